'use client'
import { Ban, ChartLine, CircleCheck, CircleHelp, CircleX, ClockAlert, Plus, Trophy, Upload } from 'lucide-react'
import { useMemo, useState } from 'react'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { FilterSelect } from '#components/filters/filter-select.tsx'
import { chosenColumns } from '#components/list/chosen-columns.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { type DrawnColumns, useColumns } from '#components/list/use-columns.ts'
import { useListPage } from '#components/list/use-list-page.ts'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { jobColumns } from '#lib/browser/address/columns/job-columns.ts'
import {
  JobListView,
  type jobAges,
  jobListPath,
  jobQueryOf,
  type jobSources,
} from '#lib/browser/address/job-list-view.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { curlPost } from '#lib/browser/api/code-samples.ts'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import { jobsShownBy } from '#lib/browser/lists/job-rows.ts'
import { jobMatches } from '#lib/browser/lists/row-filters.ts'
import type { Shown } from '#lib/browser/queries/list/pages.ts'
import {
  type BenchmarkJob,
  type BenchmarkJobList,
  type benchmarkJobStates,
  hasJobEnded,
} from '#lib/contract/benchmark-jobs.ts'
import { AgentScores, maxAgents } from './agent-scores.tsx'
import { BenchmarkState } from './benchmark-state.tsx'
import { ImportDropZone } from './import/import-drop-zone.tsx'
import { benchmarkJobQueries } from './job/queries.ts'
import { agentRows, type OutcomeCounts, outcomeCounts, progressOf } from './job-figures.ts'
import { timeOrUnknown, Unknown } from './unknown-times.tsx'

const CreateJobDialog = loadOnUse(async () => (await import('./create/create-job-dialog.tsx')).CreateJobDialog)

const JobSelection = loadOnUse(async () => (await import('./job-selection.tsx')).JobSelection)

const ImportJobDialog = loadOnUse(async () => (await import('./import/import-job-dialog.tsx')).ImportJobDialog)

const source = {
  noun: 'job',
  nouns: 'jobs',
  schema: JobListView,
  path: jobListPath,
  filters: {
    name: 'name contains …',
    state: 'state is …',
    source: 'source is …',
    agent: 'an agent contains …',
    created: 'created within …',
  },
  pages: (view: JobListView) => benchmarkJobQueries.list(jobQueryOf(view)),
  refresh: (view: JobListView, shown: () => Shown<BenchmarkJob>) =>
    benchmarkJobQueries.refresh(jobQueryOf(view), shown),
  rowsOf: ({ jobs }: BenchmarkJobList) => jobs,
  matches: (view: JobListView) => jobMatches(jobQueryOf(view)),
  // The service finds jobs by their name alone.
  arrange: {
    by: ['state', 'source', 'agent', 'created'],
    rows: (jobs: readonly BenchmarkJob[], view: JobListView) => jobs.filter(jobsShownBy(view, Date.now())),
  },
} as const

const fields = async () => (await import('./export/job-fields.ts')).jobFields

interface JobListProps {
  serviceUrl: string
  drawnColumns: DrawnColumns
}

export const JobList = ({ serviceUrl, drawnColumns }: JobListProps) => {
  const page = useListPage(source)
  const [isCreating, setIsCreating] = useState(false)
  /** Told apart by number: a second one that is dropped begins anew. */
  const [importing, setImporting] = useState<{ file: File | null; number: number } | null>(null)
  const startImport = (file: File | null) => setImporting((last) => ({ file, number: (last?.number ?? 0) + 1 }))
  const { view, narrow, selectedRows, onNearEnd } = page
  const columns = useColumns(jobColumns, page, drawnColumns)
  const shownColumns = useMemo(() => chosenColumns(columns.choices, jobColumns, allColumns()), [columns.choices])
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create job
    </Button>
  )
  return (
    <>
      <ListPage
        title="Benchmark jobs"
        page={page}
        actions={
          <>
            <ButtonLink href={paths.trend()} prefetch={false} icon={ChartLine}>
              Trend
            </ButtonLink>
            <Button icon={Upload} onClick={() => startImport(null)}>
              Import job
            </Button>
            {create}
          </>
        }
        filterBar={
          <FilterBar page={page} search="Filter by name" searches="name">
            <FilterInput
              label="Agent or model"
              className="min-w-0 flex-1 basis-36 sm:max-w-44"
              value={view.agent}
              onFilter={(agent) => narrow({ agent }, 'type')}
            />
            <FilterSelect
              label="State"
              any="Any state"
              value={view.state}
              words={stateWords}
              onFilter={(state) => narrow({ state }, 'push')}
            />
            <FilterSelect
              label="Source"
              any="Any source"
              value={view.source}
              words={sourceKinds}
              onFilter={(kind) => narrow({ source: kind }, 'push')}
            />
            <FilterSelect
              label="Time"
              any="Any time"
              value={view.created}
              words={ageWords}
              onFilter={(created) => narrow({ created }, 'push')}
            />
          </FilterBar>
        }
        columns={8}
        tools={<ListMenus source={source} page={page} columns={columns} fields={fields} serviceUrl={serviceUrl} />}
        none={
          <EmptyState
            icon={Trophy}
            title="No benchmark jobs yet"
            action={create}
            command={curlPost(
              serviceUrl,
              '/v1/benchmark_jobs',
              `{"spec": {"type": "scenarios", "scenario_ids": ["scn_…"],
       "agent_configs": [{"name": "my-agent", "type": "job_agent", "kwargs": {"command": "…"}}]}}`,
            )}
          >
            {
              'A job runs a set of scenarios with one or more agents, each in a devbox of its own, and scores what they did. It is described by a Harbor job file, by a benchmark, or by a list of scenarios.'
            }
          </EmptyState>
        }
      >
        <DataTable
          {...page.table}
          caption="Benchmark jobs, newest first"
          columns={shownColumns}
          onResize={columns.onResize}
          rowHref={({ id }) => paths.benchmarkJob(id)}
          selection={{ ...page.selection, labelOf }}
          onNearEnd={onNearEnd}
        />
      </ListPage>
      {selectedRows.length > 0 && <JobSelection jobs={selectedRows} onClear={() => page.setSelected([])} />}
      <CreateJobDialog open={isCreating} onOpenChange={setIsCreating} />
      <ImportDropZone onFile={startImport} />
      {importing && (
        <ImportJobDialog key={importing.number} dropped={importing.file} onClose={() => setImporting(null)} />
      )}
    </>
  )
}

const labelOf = ({ name }: BenchmarkJob) => `Select ${name}`

const stateWords: Record<(typeof benchmarkJobStates)[number], string> = {
  initializing: 'Initializing',
  queued: 'Queued',
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  timeout: 'Timed out',
  incomplete: 'Incomplete',
}
const sourceKinds: Record<(typeof jobSources)[number], string> = {
  harbor: 'Job file',
  benchmark: 'Benchmark',
  scenarios: 'Scenarios',
  imported: 'Imported',
}
const ageWords: Record<(typeof jobAges)[number], string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
}

const allColumns = (): Column<BenchmarkJob>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: ({ row }) => <VisibleText truncate={3}>{row.original.name.trim() || 'Unnamed job'}</VisibleText>,
    meta: { priority: 1, lines: () => 1 },
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ row }) => <BenchmarkState of="job" state={row.original.state} />,
    meta: { priority: 2, width: '9rem' },
  },
  {
    id: 'agents',
    header: () => (
      <span title={"Means over the scenarios, as on the job's page; failures and attempts without a score count 0"}>
        Agents and scores
      </span>
    ),
    cell: ({ row: { original: job } }) => <AgentScores job={job} />,
    meta: { priority: 3, minWidthRem: 14, lines: (job) => Math.min(agentRows(job).length, maxAgents + 1) },
  },
  {
    id: 'source',
    header: 'Source',
    cell: ({ row }) => {
      const { job_source: from } = row.original
      return from ? (
        <VisibleText max={40}>
          {Object.hasOwn(sourceKinds, from.type) ? sourceKinds[from.type as keyof typeof sourceKinds] : from.type}
        </VisibleText>
      ) : (
        <span className="text-muted">Not reported</span>
      )
    },
    meta: { priority: 6, width: '7.25rem' },
  },
  {
    id: 'progress',
    header: 'Trials',
    cell: ({ row: { original: job } }) => {
      const { finished, total } = progressOf(job)
      if (total !== null)
        return <span className="whitespace-nowrap">{`${formatCount(finished)} of ${formatCount(total)}`}</span>
      return <span title="The job does not report how many there are">{`${formatCount(finished)} of ${'?'}`}</span>
    },
    meta: { priority: 3, width: '7.5rem', align: 'right', lines: () => 1 },
  },
  {
    id: 'counts',
    header: () => <span title="Completed, failed, timed out, cancelled">Outcomes</span>,
    cell: ({ row: { original: job } }) => <Counts job={job} />,
    meta: { priority: 4, width: '9rem', lines: () => 1 },
  },
  {
    id: 'duration',
    header: () => <span title="Of its longest run">Duration</span>,
    cell: ({ row: { original: job } }) => {
      const runs = [...(job.benchmark_outcomes ?? []), ...(job.in_progress_runs ?? [])]
      const longest = Math.max(...runs.map(({ duration_ms }) => duration_ms ?? 0))
      return longest > 0 ? formatDurationMs(longest) : hasJobEnded(job.state) && runs.length > 0 && <Unknown />
    },
    meta: { priority: 5, width: '7.5rem', align: 'right' },
  },
  timeOrUnknown('Created', ({ create_time_ms }) => create_time_ms),
  idColumn(),
]

const Counts = ({ job: { state, benchmark_outcomes } }: { job: BenchmarkJob }) => {
  const all = (benchmark_outcomes ?? []).map(outcomeCounts)
  const sum = (of: (counts: OutcomeCounts) => number) => all.reduce((total, each) => total + of(each), 0)
  const counts = [
    { word: 'completed', icon: CircleCheck, tone: 'text-ok', n: sum(({ completed }) => completed) },
    { word: 'failed', icon: CircleX, tone: 'text-danger', n: sum(({ failed }) => failed) },
    { word: 'timed out', icon: ClockAlert, tone: 'text-attention', n: sum(({ timedOut }) => timedOut) },
    { word: 'cancelled', icon: Ban, tone: 'text-neutral', n: sum(({ cancelled }) => cancelled) },
    { word: 'in another state', icon: CircleHelp, tone: 'text-neutral', n: sum(({ other }) => other) },
  ].filter(({ n }) => n > 0)
  if (counts.length === 0) return <span className="text-muted">{hasJobEnded(state) ? 'None' : 'None yet'}</span>
  return (
    <span className="inline-flex flex-wrap gap-x-2.5">
      {counts.map(({ word, icon: Icon, tone, n }) => (
        <span key={word} title={`${formatCount(n)} ${word}`} className="tabular inline-flex items-center gap-1">
          <Icon aria-hidden className={`size-3.5 ${tone}`} />
          {formatCount(n)}
          <span className="sr-only"> {word}</span>
        </span>
      ))}
    </span>
  )
}
