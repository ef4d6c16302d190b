'use client'
import { useMemo, useState } from 'react'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Button } from '#components/ui/button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { agentLabel } from '#lib/protocol/report-words.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { durationOnceEnded, ScoreText } from '../figures.tsx'
import type { JobView } from '../job/search-params.ts'
import type { AgentRow } from '../job-figures.ts'
import type { GridLine } from './grid-view.ts'
import type { AttemptFilter } from './scenario-grid.ts'

interface Row extends ScenarioOutcome {
  key: string
  place: Opened
  agent: string
  /** "2 of 3"; empty for a single attempt. */
  attemptNumber: string
}

type Opened = Pick<JobView, 'scenario' | 'run' | 'attempt'>

interface OutcomeTableProps {
  lines: readonly GridLine[]
  agents: readonly AgentRow[]
  filter: AttemptFilter | undefined
  onOpen: (place: Opened) => void
}

const pageRows = 100

export const OutcomeTable = ({ lines, agents, filter, onOpen }: OutcomeTableProps) => {
  const [shown, setShown] = useState(pageRows)
  const rows = useMemo(() => outcomesOf(lines, agents, filter), [lines, agents, filter])
  const part = useMemo(() => rows.slice(0, shown), [rows, shown])
  const columns = useMemo(() => columnsOf(onOpen), [onOpen])
  return (
    <>
      <DataTable
        caption="Outcomes of the scenarios shown, one attempt per row"
        columns={columns}
        rows={part}
        totalRows={rows.length}
        rowKey={({ key }) => key}
      />
      <p className="flex flex-wrap items-center gap-3 text-sm text-muted">
        <span className="tabular" role="status">
          Showing {formatCount(part.length)} of {formatCount(rows.length)} outcomes
        </span>
        {part.length < rows.length && (
          <Button size="sm" onClick={() => setShown(shown + pageRows)}>
            Show {formatCount(Math.min(pageRows, rows.length - part.length))} more
          </Button>
        )}
      </p>
    </>
  )
}

const outcomesOf = (
  lines: readonly GridLine[],
  agents: readonly AgentRow[],
  filter: AttemptFilter = () => true,
): Row[] =>
  lines.flatMap((line) =>
    line.kind === 'group'
      ? []
      : line.row.cells.flatMap(({ attempts }, column) =>
          attempts.flatMap((outcome, index) =>
            filter(outcome, column)
              ? [
                  {
                    ...outcome,
                    key: `${line.key} ${column} ${index}`,
                    place: {
                      scenario: line.row.id,
                      run: agents[column]?.key,
                      attempt: index === 0 ? undefined : index + 1,
                    },
                    agent: agentLabel(agents[column] ?? { name: '', model: null }),
                    attemptNumber: attempts.length > 1 ? `${outcome.attempt ?? index + 1} of ${attempts.length}` : '',
                  },
                ]
              : [],
          ),
        ),
  )

const columnsOf = (onOpen: OutcomeTableProps['onOpen']): Column<Row>[] => [
  {
    id: 'scenario',
    header: 'Scenario',
    cell: ({ row }) => {
      const { scenario_name, scenario_definition_id, place } = row.original
      return (
        <button
          type="button"
          title="Open the outcome and its log"
          onClick={() => onOpen(place)}
          className="relative z-1 block max-w-full text-left text-accent hover:underline"
        >
          <VisibleText truncate>{scenario_name?.trim() || scenario_definition_id}</VisibleText>
        </button>
      )
    },
    meta: { priority: 1 },
  },
  {
    id: 'agent',
    header: 'Agent',
    cell: ({ row }) => <VisibleText truncate>{row.original.agent}</VisibleText>,
    meta: { priority: 3 },
  },
  {
    id: 'attempt',
    header: 'Attempt',
    cell: ({ row }) => row.original.attemptNumber,
    meta: { priority: 3, width: '6rem' },
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ row }) => (
      <>
        <BenchmarkState of="outcome" state={row.original.state} />
        {row.original.environment_differs && <span className="block text-xs text-muted">environment differs</span>}
      </>
    ),
    meta: { priority: 2, width: '8.5rem' },
  },
  {
    id: 'score',
    header: 'Score',
    cell: ({ row }) => <ScoreText score={row.original.score} />,
    meta: { priority: 3, align: 'right', width: '6rem' },
  },
  durationOnceEnded(() => true),
  {
    id: 'failure',
    header: 'Failure',
    cell: ({ row }) =>
      row.original.failure_reason && <VisibleText truncate>{row.original.failure_reason.exception_type}</VisibleText>,
    meta: { priority: 3 },
  },
]
