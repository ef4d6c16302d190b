import { CircleCheck, CircleHelp } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import type { PairFigures } from '#lib/wire/reports.ts'
import { IntervalBar } from './interval-bar.tsx'
import { labelOf, three, turned } from './verdict.ts'

/** Each agent with each other, the larger difference first, on the scenarios both have. */
export const PairTable = ({ pairs }: { pairs: readonly PairFigures[] }) => {
  const [isWhole, setIsWhole] = useState(false)
  if (pairs.length === 0) return null
  const rows = pairs.map(turned).sort((a, b) => (b.difference ?? -1) - (a.difference ?? -1))
  return (
    <div className="space-y-2">
      <h3 className="font-medium">
        {formatCount(pairs.length)} {pairs.length === 1 ? 'pair' : 'pairs'}, compared scenario by scenario
      </h3>
      <DataTable
        caption="Pairs of agents, the larger difference first"
        columns={columns}
        rows={isWhole ? rows : rows.slice(0, firstShown)}
        totalRows={rows.length}
        rowKey={({ a, b }) => `${a.benchmark_run_id} ${b.benchmark_run_id}`}
      />
      {rows.length > firstShown && (
        <p className="flex items-center gap-3 text-sm text-muted">
          <span className="tabular" role="status">
            Showing {formatCount(isWhole ? rows.length : firstShown)} of {formatCount(rows.length)} pairs
          </span>
          <Button size="sm" onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : 'Show all'}
          </Button>
        </p>
      )}
    </div>
  )
}

const firstShown = 6

const columns: Column<PairFigures>[] = [
  {
    id: 'pair',
    header: 'Agents',
    priority: 1,
    cell: ({ a, b }) => <VisibleText truncate>{`${labelOf(a)} over ${labelOf(b)}`}</VisibleText>,
  },
  {
    id: 'difference',
    header: 'Difference',
    priority: 2,
    width: '9rem',
    align: 'right',
    cell: ({ difference, n, reasons }) =>
      difference === null ? (
        <span className="text-muted" title={reasons.difference}>
          None
        </span>
      ) : (
        <span className="whitespace-nowrap">
          <b className="font-semibold">{three(difference)}</b>{' '}
          <span className="text-muted">(n = {formatCount(n)})</span>
        </span>
      ),
  },
  {
    id: 'interval',
    header: '95 % interval, on -1 to 1',
    priority: 3,
    width: '15rem',
    cell: ({ difference, ci_low, ci_high, reasons }) =>
      difference !== null && (
        <span className="flex items-center gap-3">
          <span className="w-20 shrink-0">
            <IntervalBar value={difference} low={ci_low} high={ci_high} from={-1} />
          </span>
          {ci_low === null || ci_high === null ? (
            <span className="truncate text-muted" title={reasons.ci_low}>
              {reasons.ci_low ?? 'none'}
            </span>
          ) : (
            <span className="tabular whitespace-nowrap">
              {three(ci_low)} to {three(ci_high)}
            </span>
          )}
        </span>
      ),
  },
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
    header: (
      <span title="Scenarios that only the first passes · only the second; McNemar's exact p">Only one passes</span>
    ),
    priority: 3,
    width: '10rem',
    align: 'right',
    cell: ({ only_a_passes, only_b_passes, mcnemar_p }) => (
      <span className="whitespace-nowrap">
        {formatCount(only_a_passes)} · {formatCount(only_b_passes)}
        <span className="text-muted">{mcnemar_p === null ? '' : ` (p ${probability(mcnemar_p)})`}</span>
      </span>
    ),
  },
  {
    id: 'settled',
    header: 'Settled',
    priority: 3,
    width: '14rem',
    cell: ({ settled, scenarios_to_settle, reasons }) =>
      settled ? (
        <Badge tone="ok" icon={CircleCheck}>
          Settled
        </Badge>
      ) : (
        <span className="inline-flex items-center gap-2">
          <Badge tone="neutral" icon={CircleHelp}>
            Not settled
          </Badge>
          <span className="truncate text-sm text-muted" title={reasons.scenarios_to_settle}>
            {scenarios_to_settle === null ? '' : `needs about ${formatCount(scenarios_to_settle)}`}
          </span>
        </span>
      ),
  },
]

const probability = (p: number): string => (p < 0.0001 ? '< 0.0001' : p.toFixed(4))
