import { CircleCheck, CircleHelp } from 'lucide-react'
import type { Column } from '#components/list/column.ts'
import { Badge } from '#components/ui/badge.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { aboutScenarios, countOf, formatP, labelOf, pText } from '#lib/protocol/report-words.ts'
import type { PairFigures } from '#lib/protocol/reports.ts'
import { Missing, ScoreWithN } from './figure-text.tsx'

export const differenceColumn = <Pair extends PairFigures>(
  format: (difference: number) => string,
  width: '9rem' | '10rem' = '10rem',
): Column<Pair> => ({
  id: 'difference',
  header: 'Difference',
  cell: ({ row }) => {
    const { difference, n, reasons } = row.original
    return difference === null ? <Missing why={reasons.difference} /> : <ScoreWithN score={format(difference)} n={n} />
  },
  meta: { priority: 2, width, align: 'right' },
})

export const significanceColumns = <Pair extends PairFigures>(discordant: string): Column<Pair>[] => [
  {
    id: 'p',
    header: () => <span title="Sign-flip test; Holm-adjusted over the pairs">p · adjusted</span>,
    cell: ({ row }) => {
      const { p_value, p_adjusted, method, reasons } = row.original
      return p_value === null ? (
        <span className="text-muted" title={reasons.p_value}>
          None
        </span>
      ) : (
        <span title={method === null ? undefined : methods[method]}>
          {formatP(p_value)} · {p_adjusted === null ? <span title={reasons.p_adjusted}>–</span> : formatP(p_adjusted)}
        </span>
      )
    },
    meta: { priority: 3, width: '9.5rem', align: 'right' },
  },
  {
    id: 'discordant',
    header: () => <span title={`${discordant}; McNemar's exact p`}>Discordant</span>,
    cell: ({ row }) => {
      const { a, b, only_a_passes, only_b_passes, mcnemar_p, reasons } = row.original
      return only_a_passes === null || only_b_passes === null ? (
        <Missing why={reasons.only_a_passes} />
      ) : (
        <span
          className="whitespace-nowrap"
          title={`${countOf(only_a_passes, 'scenario')} only ${labelOf(a)} passes, ${formatCount(only_b_passes)} only ${labelOf(b)} passes`}
        >
          {formatCount(only_a_passes)} vs {formatCount(only_b_passes)}
          <span className="text-muted">{mcnemar_p === null ? '' : ` (${pText(mcnemar_p)})`}</span>
        </span>
      )
    },
    meta: { priority: 3, width: '9.75rem', align: 'right' },
  },
  {
    id: 'significant',
    header: 'Significance',
    cell: ({ row: { original: pair } }) => (
      <span className="flex flex-wrap items-center gap-x-1.5 leading-4">
        <Badge tone={pair.significant ? 'ok' : 'neutral'} icon={pair.significant ? CircleCheck : CircleHelp}>
          {pair.significant ? 'Significant' : 'Not significant'}
        </Badge>
        {!pair.significant && (
          <span className="text-xs leading-4 text-muted" title={pair.reasons.scenarios_needed ?? neededText(pair)}>
            {neededText(pair)}
          </span>
        )}
      </span>
    ),
    meta: { priority: 3, width: '16rem', lines: () => 1 },
  },
]

const methods: Record<NonNullable<PairFigures['method']>, string> = {
  sign_flips_exact: 'Exact sign-flip test',
  sign_flips_rounded: 'Sign-flip test on differences rounded to a fine grid',
  sign_flips_normal: 'Sign-flip test, normal approximation',
}

const neededText = ({ difference, n, p_value, scenarios_needed, min_scenarios, reasons }: PairFigures): string => {
  if (scenarios_needed !== null) return `${aboutScenarios(scenarios_needed)} needed`
  if (difference === 0) return 'no difference'
  if (difference === null) return reasons.difference ?? ''
  if (n < min_scenarios) return `at least ${min_scenarios} scenarios needed`
  return p_value !== null && p_value < 0.05 ? 'significant only before adjustment' : ''
}
