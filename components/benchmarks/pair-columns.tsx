import { CircleCheck, CircleHelp } from 'lucide-react'
import { Badge } from '#components/ui/badge.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { aboutScenarios, countOf, labelOf, probability } from '#lib/protocol/report-words.ts'
import type { PairFigures } from '#lib/protocol/reports.ts'
import { Missing } from './figure-text.tsx'

/** How sure a difference between two agents is: the columns that every table of pairs has. */
export const doubtColumns = <Pair extends PairFigures>(onlyOnePasses: string): Column<Pair>[] => [
  {
    id: 'p',
    header: <span title="By flips of the signs of the differences · by Holm over the pairs">p · adjusted</span>,
    priority: 3,
    width: '9.5rem',
    align: 'right',
    cell: ({ p_value, p_adjusted, method, reasons }) =>
      p_value === null ? (
        <span className="text-muted" title={reasons.p_value}>
          None
        </span>
      ) : (
        <span title={method === null ? undefined : methodWords[method]}>
          {probability(p_value)} ·{' '}
          {p_adjusted === null ? <span title={reasons.p_adjusted}>–</span> : probability(p_adjusted)}
        </span>
      ),
  },
  {
    id: 'discordant',
    header: <span title={`${onlyOnePasses}; McNemar's exact p`}>Only one passes</span>,
    priority: 3,
    width: '9.75rem',
    align: 'right',
    cell: ({ a, b, only_a_passes, only_b_passes, mcnemar_p, reasons }) =>
      only_a_passes === null || only_b_passes === null ? (
        <Missing why={reasons.only_a_passes} />
      ) : (
        <span
          className="whitespace-nowrap"
          title={`${countOf(only_a_passes, 'scenario')} that only ${labelOf(a)} passes, ${formatCount(only_b_passes)} that only ${labelOf(b)} passes`}
        >
          {formatCount(only_a_passes)}
          <span className="sr-only"> only the first,</span>
          <span aria-hidden> · </span>
          {formatCount(only_b_passes)}
          <span className="sr-only"> only the second</span>
          <span className="text-muted">{mcnemar_p === null ? '' : ` (p ${probability(mcnemar_p)})`}</span>
        </span>
      ),
  },
  {
    id: 'settled',
    header: 'Settled',
    priority: 3,
    width: '16rem',
    lines: () => 1,
    cell: (pair) => (
      <span className="flex flex-wrap items-center gap-x-1.5 leading-4">
        <Badge tone={pair.settled ? 'ok' : 'neutral'} icon={pair.settled ? CircleCheck : CircleHelp}>
          {pair.settled ? 'Settled' : 'Not settled'}
        </Badge>
        {!pair.settled && (
          <span className="text-xs leading-4 text-muted" title={pair.reasons.scenarios_to_settle ?? lackWords(pair)}>
            {lackWords(pair)}
          </span>
        )}
      </span>
    ),
  },
]

const methodWords: Record<NonNullable<PairFigures['method']>, string> = {
  sign_flips_exact: 'Exact: every sign pattern of the differences',
  sign_flips_rounded: 'Every sign pattern of the differences, rounded to a fine grid',
  sign_flips_normal: 'Sign patterns of the differences, by the normal distribution',
}

/** What a difference lacks to be settled. */
const lackWords = ({ difference, n, p_value, scenarios_to_settle, fewest_to_settle, reasons }: PairFigures): string => {
  if (scenarios_to_settle !== null) return `needs ${aboutScenarios(scenarios_to_settle)}`
  if (difference === 0) return 'no difference to settle'
  if (difference === null) return reasons.difference ?? ''
  if (n < fewest_to_settle) return `takes ${fewest_to_settle} scenarios at least`
  return p_value !== null && p_value < 0.05 ? 'only p alone is below 0.05' : ''
}
