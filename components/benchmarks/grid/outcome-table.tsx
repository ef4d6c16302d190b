'use client'
import { Ban, Tag } from 'lucide-react'
import { useMemo, useState } from 'react'
import { type Column, emptySelection } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Button } from '#components/ui/button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { agentLabel } from '#lib/protocol/report-words.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { durationOnceEnded, ScoreText } from '../figures.tsx'
import type { JobView } from '../job/search-params.ts'
import type { AgentRow } from '../job-figures.ts'
import { type AttemptMark, type AttemptMarks, labelsInUse } from '../marks/attempt-marks.ts'
import { ExcludeDialog } from '../marks/exclude-dialog.tsx'
import { LabelDialog } from '../marks/label-dialog.tsx'
import type { GridLine } from './grid-view.ts'
import type { AttemptFilter } from './scenario-grid.ts'

interface Row extends ScenarioOutcome {
  key: string
  place: Opened
  agent: string
  /** "2 of 3"; empty for a single attempt. */
  attemptNumber: string
  mark: AttemptMark | undefined
}

type Opened = Pick<JobView, 'scenario' | 'run' | 'attempt'>

interface OutcomeTableProps {
  jobId: string
  lines: readonly GridLine[]
  agents: readonly AgentRow[]
  marks: AttemptMarks
  filter: AttemptFilter | undefined
  onOpen: (place: Opened) => void
}

const pageRows = 100

export const OutcomeTable = ({ jobId, lines, agents, marks, filter, onOpen }: OutcomeTableProps) => {
  const [shown, setShown] = useState(pageRows)
  const rows = useMemo(() => outcomesOf(lines, agents, marks, filter), [lines, agents, marks, filter])
  const part = useMemo(() => rows.slice(0, shown), [rows, shown])
  const hasLabels = useMemo(() => rows.some(({ mark }) => mark && mark.labels.length > 0), [rows])
  const columns = useMemo(() => columnsOf(onOpen).filter(({ id }) => id !== 'labels' || hasLabels), [onOpen, hasLabels])
  const [selected, setSelected] = useState(emptySelection)
  const [dialog, setDialog] = useState<'exclude' | 'label' | null>(null)
  const items = rows.flatMap(({ key, mark }) => (mark && Object.hasOwn(selected, key) ? [mark] : []))
  const close = () => setDialog(null)
  return (
    <>
      {items.length > 0 && (
        <p className="flex flex-wrap items-center gap-2">
          <span role="status" className="tabular">
            {formatCountOf(items.length, 'attempt')} selected
          </span>
          <Button size="sm" icon={Ban} needs="/api/judgment" onClick={() => setDialog('exclude')}>
            Exclude…
          </Button>
          <Button size="sm" icon={Tag} needs="/api/judgment" onClick={() => setDialog('label')}>
            Label…
          </Button>
          <Button size="sm" variant="ghost" onClick={() => setSelected(emptySelection)}>
            Clear selection
          </Button>
        </p>
      )}
      <DataTable
        caption="Outcomes of the scenarios shown, one attempt per row"
        columns={columns}
        rows={part}
        totalRows={rows.length}
        rowKey={({ key }) => key}
        selection={{
          selected,
          onChange: setSelected,
          labelOf: ({ scenario_name, agent, attemptNumber }) =>
            `Select ${scenario_name}, ${agent}${attemptNumber && `, attempt ${attemptNumber}`}`,
        }}
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
      {dialog === 'exclude' && (
        <ExcludeDialog
          jobId={jobId}
          title={`Exclude ${formatCountOf(items.length, 'attempt')}`}
          scopes={[
            { label: 'Only these attempts', items },
            {
              label: 'Their scenarios, for all agents',
              items: [...new Set(items.map(({ scenario_id }) => scenario_id))].map((scenario_id) => ({
                scenario_id,
                attempt_id: null,
              })),
            },
          ]}
          onClose={close}
        />
      )}
      {dialog === 'label' && (
        <LabelDialog
          jobId={jobId}
          title={`Label ${formatCountOf(items.length, 'attempt')}`}
          items={items}
          used={labelsInUse(marks)}
          onClose={close}
        />
      )}
    </>
  )
}

const outcomesOf = (
  lines: readonly GridLine[],
  agents: readonly AgentRow[],
  marks: AttemptMarks,
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
                    mark: marks.get(outcome),
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
        {row.original.mark?.isExcluded && <span className="block text-xs text-muted">excluded</span>}
      </>
    ),
    meta: { priority: 2, width: '8.5rem' },
  },
  {
    id: 'score',
    header: 'Score',
    cell: ({ row }) => (
      <span className={row.original.mark?.isExcluded ? 'line-through' : undefined}>
        <ScoreText score={row.original.score} />
      </span>
    ),
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
  {
    id: 'labels',
    header: 'Labels',
    cell: ({ row }) => (
      <VisibleText truncate>{row.original.mark?.labels.map(({ label }) => label).join(', ') ?? ''}</VisibleText>
    ),
    meta: { priority: 3, width: '10rem' },
  },
]
