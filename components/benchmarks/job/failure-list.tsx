'use client'
import { memo, useMemo, useState } from 'react'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Button } from '#components/ui/button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { failureGroupsOf } from '#lib/protocol/failure-groups.ts'
import { countOf, threeDecimals } from '#lib/protocol/report-words.ts'
import type { FailureGroupFigures } from '#lib/protocol/reports.ts'
import type { GridScale } from '../grid/scenario-grid.ts'
import { type AgentRow, shortLabels } from '../job-figures.ts'

interface FailureListProps {
  agents: readonly AgentRow[]
  scale: GridScale
  onShow: (group: FailureGroupFigures) => void
  onOpenFirst: (group: FailureGroupFigures) => void
}

const maxCollapsed = 4

export const FailureList = memo(({ agents, scale, onShow, onOpenFirst }: FailureListProps) => {
  const groups = useMemo(() => failureGroupsOf(agents.flatMap(failedAgent), scale), [agents, scale])
  const [isExpanded, setIsExpanded] = useState(false)
  const shown = useMemo(() => (isExpanded ? groups : groups.slice(0, maxCollapsed)), [groups, isExpanded])
  const columns = useMemo(() => columnsOf(agents, { onShow, onOpenFirst }), [agents, onShow, onOpenFirst])
  const attempts = agents.reduce((sum, { outcome }) => sum + (outcome?.scenario_outcomes.length ?? 0), 0)
  if (attempts === 0) return null
  const isHidden = (id: string | undefined) => id === 'points' && groups.every(({ points }) => points === null)
  return (
    <section aria-label="Failures" className="space-y-1">
      <div className="flex flex-wrap items-center gap-x-3">
        <h2 className="text-lg font-medium">Failures</h2>
        <p className="tabular text-sm text-muted">
          {groups.length === 0 && `None in ${countOf(attempts, 'outcome')}.`}
        </p>
        {groups.length > maxCollapsed && (
          <Button size="sm" variant="ghost" onClick={() => setIsExpanded(!isExpanded)}>
            {isExpanded ? `Show the first ${maxCollapsed}` : `Show all ${formatCount(groups.length)} groups`}
          </Button>
        )}
      </div>
      {groups.length > 0 && (
        <DataTable
          caption="Failure groups, most points lost first"
          columns={columns.filter(({ id }) => !isHidden(id))}
          rows={shown}
          totalRows={groups.length}
          rowKey={({ key }) => key}
        />
      )}
    </section>
  )
})

const failedAgent = ({ key, name, outcome }: AgentRow) =>
  outcome === null
    ? []
    : [
        {
          agent_name: name,
          benchmark_run_id: key,
          outcomes: outcome.scenario_outcomes.map((each) => ({ ...each, scenario_id: each.scenario_definition_id })),
        },
      ]

const columnsOf = (
  agents: readonly AgentRow[],
  { onShow, onOpenFirst }: Pick<FailureListProps, 'onShow' | 'onOpenFirst'>,
): Column<FailureGroupFigures>[] => {
  const labels = shortLabels(agents)
  const nameOf = new Map(agents.map(({ key }, at) => [key, labels[at] ?? '']))
  return [
    {
      id: 'attempts',
      header: 'Attempts',
      cell: ({ row: { original: group } }) => (
        <button
          type="button"
          className="relative z-1 min-h-6 text-accent hover:underline"
          onClick={() => onShow(group)}
        >
          <span className="sr-only">Show </span>
          {formatCount(group.n_attempts)}
          <span className="sr-only"> attempts</span>
        </button>
      ),
      meta: { priority: 2, width: '5.5rem', align: 'right' },
    },
    {
      id: 'failure',
      header: 'Failure',
      cell: ({ row: { original: group } }) => (
        <button
          type="button"
          title="Open the first attempt"
          className="relative z-1 block max-w-full truncate text-left hover:underline"
          onClick={() => onOpenFirst(group)}
        >
          <VisibleText max={120} className={group.kind === 'wrong' ? 'font-medium' : 'font-mono font-medium'}>
            {group.title}
          </VisibleText>{' '}
          <VisibleText max={300} className="font-normal text-muted">
            {group.message}
          </VisibleText>
        </button>
      ),
      meta: { priority: 1 },
    },
    {
      id: 'agents',
      header: 'By agent',
      cell: ({ row }) => {
        const { agents } = row.original
        const counts = agents
          .toSorted((a, b) => b.n_attempts - a.n_attempts)
          .map(({ benchmark_run_id: id, n_attempts }) => `${nameOf.get(id) ?? id} ${formatCount(n_attempts)}`)
        return (
          <VisibleText max={600} truncate className="text-muted">
            {counts.join(', ')}
          </VisibleText>
        )
      },
      meta: { priority: 3, width: '19rem' },
    },
    {
      id: 'scenarios',
      header: 'Scenarios',
      cell: ({ row }) => formatCount(row.original.n_scenarios),
      meta: { priority: 3, width: '6rem', align: 'right' },
    },
    {
      id: 'points',
      header: () => (
        <span title="How far the agents' means are lowered, summed over agents, with failures as 0">Points lost</span>
      ),
      cell: ({ row }) => row.original.points !== null && threeDecimals(row.original.points),
      meta: { priority: 2, width: '7rem', align: 'right' },
    },
  ]
}
