import { useMemo, useState } from 'react'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Button } from '#components/ui/button.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { labelOf, sortPairs, threeDecimals } from '#lib/protocol/report-words.ts'
import type { AgentFigures, AgentIdentity, PairFigures } from '#lib/protocol/reports.ts'
import { shortLabels } from '../job-figures.ts'
import { differenceColumn, significanceColumns } from '../pair-columns.tsx'
import { PairLines } from '../score.tsx'
import { IntervalCell, roundUp } from './interval-bar.tsx'

export const PairTable = ({ pairs, agents }: { pairs: readonly PairFigures[]; agents: readonly AgentFigures[] }) => {
  const [isExpanded, setIsExpanded] = useState(false)
  const rows = useMemo(() => sortPairs(pairs), [pairs])
  const shown = useMemo(() => (isExpanded ? rows : rows.slice(0, maxCollapsed)), [rows, isExpanded])
  const columns = useMemo(() => columnsOf(agents, axisOf(shown)), [agents, shown])
  if (pairs.length === 0) return null
  return (
    <div className="space-y-2">
      <h3 className="font-medium">{formatCountOf(pairs.length, 'pair')}</h3>
      <DataTable
        caption="Pairs of agents, largest difference first, controls last"
        columns={columns}
        rows={shown}
        totalRows={rows.length}
        rowKey={({ a, b }) => `${a.benchmark_run_id} ${b.benchmark_run_id}`}
      />
      {rows.length > maxCollapsed && (
        <p className="flex items-center gap-3 text-sm text-muted">
          <span className="tabular" role="status">
            Showing {formatCount(isExpanded ? rows.length : maxCollapsed)} of {formatCount(rows.length)} pairs
          </span>
          <Button size="sm" onClick={() => setIsExpanded(!isExpanded)}>
            {isExpanded ? 'Show fewer' : 'Show all'}
          </Button>
        </p>
      )}
    </div>
  )
}

const maxCollapsed = 6

/** End of a symmetric axis that fits every interval. */
const axisOf = (pairs: readonly PairFigures[]): number => {
  const largest = Math.max(
    0,
    ...pairs.flatMap(({ difference, ci_low, ci_high }) => [difference ?? 0, ci_low ?? 0, ci_high ?? 0].map(Math.abs)),
  )
  return [0.1, 0.25, 0.5, 1].find((end) => largest <= end) ?? roundUp(largest)
}

const columnsOf = (agents: readonly AgentFigures[], axis: number): Column<PairFigures>[] => {
  const labels = shortLabels(agents.map(({ agent_name: name, model_name: model }) => ({ name, model })))
  const byRun = new Map(agents.map(({ benchmark_run_id }, at) => [benchmark_run_id, labels[at]]))
  const nameOf = (agent: AgentIdentity) => byRun.get(agent.benchmark_run_id) ?? labelOf(agent)
  return [
    {
      id: 'pair',
      header: 'Agents',
      cell: ({ row }) => <PairLines one={nameOf(row.original.a)} other={nameOf(row.original.b)} />,
      meta: { priority: 1, lines: () => 2 },
    },
    ...figureColumns(axis),
  ]
}

const figureColumns = (axis: number): Column<PairFigures>[] => [
  differenceColumn(threeDecimals, '9rem'),
  {
    id: 'interval',
    header: `95% CI, axis -${axis} to ${axis}`,
    cell: ({ row }) => {
      const { difference, ci_low, ci_high, reasons } = row.original
      return (
        difference !== null && (
          <IntervalCell
            value={difference}
            low={ci_low}
            high={ci_high}
            axis={{ low: -axis, high: axis }}
            reason={reasons.ci_low}
          />
        )
      )
    },
    meta: { priority: 3, width: '14rem' },
  },
  ...significanceColumns<PairFigures>('Scenarios that only one of the two passes'),
]
