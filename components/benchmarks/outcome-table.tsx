'use client'
import { durationColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { VisibleLines, VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { BenchmarkState } from './benchmark-state.tsx'
import { formatScore } from './job-figures.ts'

interface Row extends ScenarioOutcome {
  key: string
  /** Which attempt at its scenario this is, when there are several. */
  attempt: number | null
}

/** Every scenario outcome of one agent, and the failures in full below. */
export const OutcomeTable = ({ outcomes }: { outcomes: readonly ScenarioOutcome[] }) => {
  const rows = withAttempts(outcomes)
  const failures = rows.filter(({ failure_reason }) => failure_reason)
  return (
    <>
      <p className="text-sm text-muted">
        {formatCount(rows.length)} {rows.length === 1 ? 'outcome' : 'outcomes'} so far, in the order they came
      </p>
      <DataTable caption="Scenario outcomes" columns={columns} rows={rows} rowKey={({ key }) => key} />
      {failures.length > 0 && (
        <div className="space-y-2">
          <h3 className="font-medium">
            {formatCount(failures.length)} of {formatCount(rows.length)} with a failure
          </h3>
          <ul className="space-y-2">
            {failures.map((row) => (
              <li key={row.key} className="rounded-md border border-line px-3 py-2">
                <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
                  <span className="font-medium">
                    <VisibleText max={120}>{nameOf(row)}</VisibleText>
                  </span>
                  <BenchmarkState of="outcome" state={row.state} />
                  <code className="font-mono text-sm">
                    <VisibleText max={120}>{row.failure_reason?.exception_type ?? ''}</VisibleText>
                  </code>
                </p>
                <pre className="mt-1 max-h-60 overflow-auto font-mono text-sm whitespace-pre-wrap break-words">
                  <VisibleLines max={20_000}>{row.failure_reason?.exception_message ?? ''}</VisibleLines>
                </pre>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

const withAttempts = (outcomes: readonly ScenarioOutcome[]): Row[] => {
  const total = new Map<string, number>()
  for (const { scenario_definition_id: id } of outcomes) total.set(id, (total.get(id) ?? 0) + 1)
  const seen = new Map<string, number>()
  return outcomes.map((outcome, index) => {
    const id = outcome.scenario_definition_id
    const attempt = (seen.get(id) ?? 0) + 1
    seen.set(id, attempt)
    return {
      ...outcome,
      key: outcome.scenario_run_id ?? `${id} ${index}`,
      attempt: (total.get(id) ?? 0) > 1 ? attempt : null,
    }
  })
}

const nameOf = ({ scenario_name, attempt }: Row) => (attempt === null ? scenario_name : `${scenario_name} #${attempt}`)

const columns: Column<Row>[] = [
  { id: 'scenario', header: 'Scenario', priority: 1, cell: (row) => <VisibleText truncate>{nameOf(row)}</VisibleText> },
  {
    id: 'state',
    header: 'State',
    priority: 2,
    width: '8.5rem',
    cell: ({ state }) => <BenchmarkState of="outcome" state={state} />,
  },
  {
    id: 'score',
    header: 'Score',
    priority: 3,
    align: 'right',
    width: '6rem',
    cell: ({ score }) => (score == null ? <span className="text-muted">None</span> : formatScore(score)),
  },
  durationColumn,
  {
    id: 'failure',
    header: 'Failure',
    priority: 3,
    cell: ({ failure_reason }) => failure_reason && <VisibleText truncate>{failure_reason.exception_type}</VisibleText>,
  },
]
