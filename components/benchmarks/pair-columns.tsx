import { CircleCheck, CircleHelp } from 'lucide-react'
import { Badge } from '#components/ui/badge.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { formatCount } from '#lib/language/translate.ts'
import { fewestToSettle } from '#lib/statistics/figures.ts'
import { aboutScenarios, countOf, labelOf, probability } from '#lib/wire/report-words.ts'
import type { PairFigures } from '#lib/wire/reports.ts'

/** How sure a difference between two agents is: the columns that every table of pairs has. */
export const doubtColumns = <Pair extends PairFigures>(onlyOnePasses: string): Column<Pair>[] => [
  {
    id: 'p',
    header: <span title="By flips of the signs of the differences · by Holm over the pairs">p · adjusted</span>,
    priority: 3,
    width: '9.5rem',
    align: 'right',
    cell: ({ p_value, p_adjusted, method, permutations, seed, reasons }) =>
      p_value === null ? (
        <span className="text-muted" title={reasons.p_value}>
          None
        </span>
      ) : (
        <span
          title={
            method === 'sign_flips_sampled'
              ? `${formatCount(permutations ?? 0)} sampled sign flips, seed ${seed}`
              : `All ${formatCount(permutations ?? 0)} sign flips`
          }
        >
          {probability(p_value)} · {p_adjusted === null ? '–' : probability(p_adjusted)}
        </span>
      ),
  },
  {
    id: 'discordant',
    header: <span title={`${onlyOnePasses}; McNemar's exact p`}>Only one passes</span>,
    priority: 3,
    width: '9.75rem',
    align: 'right',
    cell: ({ a, b, only_a_passes, only_b_passes, mcnemar_p }) => (
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

/** What a difference lacks to be settled. */
const lackWords = ({ difference, n, p_value, scenarios_to_settle, reasons }: PairFigures): string => {
  if (scenarios_to_settle !== null) return `needs ${aboutScenarios(scenarios_to_settle)}`
  if (difference === 0) return 'no difference to settle'
  if (difference === null) return reasons.difference ?? ''
  if (n < fewestToSettle) return `takes ${fewestToSettle} scenarios at least`
  return p_value !== null && p_value < 0.05 ? 'only p alone is below 0.05' : ''
}
