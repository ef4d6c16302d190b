'use client'
import { useMutation } from '@tanstack/react-query'
import {
  Ban,
  ChartLine,
  CircleCheck,
  CircleHelp,
  CircleX,
  ClockAlert,
  GitCompareArrows,
  Plus,
  Trophy,
  Upload,
} from 'lucide-react'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { CodeSample } from '#components/layout/code-samples.tsx'
import { type Column, narrowOnly } from '#components/list/column.ts'
import { idColumn, optional } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { FilterInput, FilterSelect } from '#components/list/filter-fields.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useColumns } from '#components/list/use-columns.ts'
import { useListQuery } from '#components/list/use-list-query.ts'
import { useSupport } from '#components/settings/support-queries.ts'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { useRefusal } from '#components/ui/refusals.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import { jobMatches } from '#lib/browser/lists/row-filters.ts'
import { serviceNow } from '#lib/client/clock.ts'
import { type BenchmarkJob, type BenchmarkJobListQuery, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { agentLabel, byMean, threeDecimals, truncate } from '#lib/protocol/report-words.ts'
import { BenchmarkState, jobLooks, wordsOf } from './benchmark-state.tsx'
import { maxCompared } from './compare/search-params.ts'
import { stateColumn, timeOrUnknown, Unknown } from './figures.tsx'
import { benchmarkJobQueries } from './job/queries.ts'
import {
  type AgentScore,
  activeRuns,
  agentRows,
  agentScores,
  type OutcomeCounts,
  outcomeCounts,
  progressOf,
  shortLabels,
} from './job-figures.ts'
import { JobSearchParams, type jobAges, jobFilter, jobQueryOf, type jobSources, jobsPath } from './job-search-params.ts'
import { benchmarkRunMutations } from './run/queries.ts'
import { trendPath } from './trend/search-params.ts'

const CreateJobDialog = dynamic(async () => (await import('./create/create-job-dialog.tsx')).CreateJobDialog)

const ImportJobDialog = dynamic(async () => (await import('./import/import-job-dialog.tsx')).ImportJobDialog)

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

const ofAllRuns = (job: BenchmarkJob, of: (counts: OutcomeCounts) => number): number =>
  (job.benchmark_outcomes ?? []).map(outcomeCounts).reduce((total, counts) => total + of(counts), 0)

const longestRunMs = ({ benchmark_outcomes, in_progress_runs }: BenchmarkJob): number | null =>
  Math.max(
    0,
    ...[...(benchmark_outcomes ?? []), ...(in_progress_runs ?? [])].map(({ duration_ms }) => duration_ms ?? 0),
  ) || null

const exportedAgents = (job: BenchmarkJob) => {
  const agents = agentRows(job)
  const scores = agentScores(agents)
  return agents.map(({ name, model }, at) => ({
    agent_name: name,
    model_name: model,
    mean: scores[at]?.mean ?? null,
    n_scenarios: scores[at]?.n ?? 0,
    metric: job.judged_metric ?? null,
  }))
}

const columns: Column<BenchmarkJob>[] = [
  {
    accessorKey: 'name',
    id: 'name',
    header: 'Name',
    cell: ({ row }) => <VisibleText truncate={3}>{row.original.name.trim() || 'Unnamed job'}</VisibleText>,
    meta: { priority: 1, lines: () => 1 },
  },
  {
    ...stateColumn<BenchmarkJob>('job', '9rem'),
    cell: ({ row: { original: job } }) => (
      <>
        <BenchmarkState of="job" state={job.state} />
        <span className={`tabular block text-sm leading-4 ${narrowOnly}`}>
          <BestScore job={job} />
        </span>
      </>
    ),
  },
  {
    accessorFn: (job) => scoredAgents(job)[0]?.score?.mean ?? undefined,
    id: 'agents',
    header: 'Agents and scores',
    cell: ({ row }) => <AgentScores job={row.original} />,
    meta: {
      priority: 3,
      minWidthRem: 18,
      title: "Means over the scenarios, as on the job's page. Failures and attempts without a score count as 0.",
      lines: (job) => Math.min(agentRows(job).length, maxAgents + 1),
      export: { agents: exportedAgents },
    },
  },
  {
    accessorFn: ({ job_source }) => job_source?.type,
    id: 'source',
    header: 'Source',
    cell: ({
      row: {
        original: { job_source: from },
      },
    }) =>
      from ? (
        <VisibleText max={40}>
          {Object.hasOwn(sourceKinds, from.type) ? sourceKinds[from.type as keyof typeof sourceKinds] : from.type}
        </VisibleText>
      ) : (
        <span className="text-muted">Not reported</span>
      ),
    meta: { priority: 6, width: '7.25rem', export: { job_source: ({ job_source }) => job_source?.type } },
  },
  {
    accessorFn: (job) => progressOf(job).finished,
    id: 'progress',
    header: 'Trials',
    cell: ({ row }) => {
      const { finished, total } = progressOf(row.original)
      if (total !== null)
        return <span className="whitespace-nowrap">{`${formatCount(finished)} of ${formatCount(total)}`}</span>
      return <span title="The job does not report its number of trials">{`${formatCount(finished)} of ?`}</span>
    },
    meta: {
      priority: 3,
      width: '7.5rem',
      align: 'right',
      lines: () => 1,
      export: { n_finished: (job) => progressOf(job).finished, n_planned: (job) => progressOf(job).total },
    },
  },
  {
    accessorFn: (job) => ofAllRuns(job, ({ failed, timedOut }) => failed + timedOut),
    id: 'counts',
    header: 'Outcomes',
    cell: ({ row }) => <Outcomes job={row.original} />,
    meta: {
      priority: 4,
      width: '9rem',
      lines: () => 1,
      title: 'Completed, failed, timed out, canceled; sorted by failed and timed out',
      export: {
        n_completed: (job) => ofAllRuns(job, ({ completed }) => completed),
        n_failed: (job) => ofAllRuns(job, ({ failed }) => failed),
        n_timeout: (job) => ofAllRuns(job, ({ timedOut }) => timedOut),
        n_canceled: (job) => ofAllRuns(job, ({ cancelled }) => cancelled),
      },
    },
  },
  {
    accessorFn: longestRunMs,
    id: 'duration',
    header: 'Duration',
    cell: ({ row: { original: job } }) => {
      const longest = longestRunMs(job)
      const hasRuns = (job.benchmark_outcomes ?? []).length + (job.in_progress_runs ?? []).length > 0
      return longest !== null ? formatDurationMs(longest) : hasJobEnded(job.state) && hasRuns && <Unknown />
    },
    meta: {
      priority: 5,
      width: '7.5rem',
      align: 'right',
      title: 'Duration of the longest run',
      export: { longest_run_ms: longestRunMs },
    },
  },
  timeOrUnknown('create_time_ms', 'Created'),
  optional(idColumn()),
]

const source = {
  noun: 'job',
  nouns: 'jobs',
  params: JobSearchParams,
  path: jobsPath,
  endpoint: 'benchmarkJobs.list',
  columns,
  queryOf: jobQueryOf,
  filters: {
    name: 'name contains …',
    state: 'state is …',
    source: 'source is …',
    agent: 'an agent contains …',
    created: 'created within …',
  },
  list: (query: BenchmarkJobListQuery) => benchmarkJobQueries.list(query),
  matches: jobMatches,
  arrange: (rows: readonly BenchmarkJob[], params: JobSearchParams) => rows.filter(jobFilter(params, serviceNow())),
}

interface JobListProps {
  serviceUrl: string
  savedColumns: string
}

export const JobList = ({ serviceUrl, savedColumns }: JobListProps) => {
  const list = useListQuery(source)
  // Undefined until the dialog is first opened; after that it stays mounted and keeps what was typed.
  const [isCreating, setIsCreating] = useState<boolean>()
  /** A new number for each file, so that a second drop starts over. */
  const [importing, setImporting] = useState<{ file: File | null; number: number } | null>(null)
  const startImport = (file: File | null) => setImporting((last) => ({ file, number: (last?.number ?? 0) + 1 }))
  const { params, filter, selectedRows } = list
  const chosen = useColumns(columns, list, 'jobColumns', savedColumns)
  const router = useRouter()
  const byRun = useSupport('benchmarkJobs.cancel') === 'no'
  const canImport = useSupport('benchmarkJobs.import') !== 'no'
  const mayImport = useRefusal('benchmarkJobs.import') === null
  const cancel = useMutation(benchmarkRunMutations.cancelJob())
  const create = (
    <Button variant="primary" icon={Plus} needs="benchmarkJobs.create" onClick={() => setIsCreating(true)}>
      Create job
    </Button>
  )
  return (
    <>
      <ListPage
        title="Benchmark jobs"
        list={list}
        actions={
          <>
            <ButtonLink href={paths.trend()} prefetch={false} icon={ChartLine}>
              Trend
            </ButtonLink>
            {canImport && (
              <Button icon={Upload} needs="benchmarkJobs.import" onClick={() => startImport(null)}>
                Import jobs
              </Button>
            )}
            {create}
          </>
        }
        bulk={[
          {
            icon: Ban,
            verb: 'Cancel',
            needs: byRun ? 'benchmarkRuns.cancel' : 'benchmarkJobs.cancel',
            done: 'Canceled',
            failed: "Couldn't cancel every job",
            consequence: (count) =>
              `Stops ${count}: running trials are canceled and their devboxes shut down. Finished trials keep their outcomes. This can't be undone.`,
            isDestructive: true,
            isEligible: ({ state }) => !hasJobEnded(state),
            act: (job) => cancel.mutateAsync({ id: job.id, runs: activeRuns(job), byRun }),
          },
        ]}
        bulkTools={
          <>
            <Button
              size="sm"
              variant="primary"
              icon={GitCompareArrows}
              disabledReason={selectedRows.length > maxCompared ? `compare at most ${maxCompared} jobs` : null}
              onClick={() => router.push(paths.compare(selectedRows.map(({ id }) => id).reverse()))}
            >
              {selectedRows.length === 1 ? 'Compare agents' : 'Compare jobs'}
            </Button>
            {selectedRows.length === 1 && (
              <Button size="sm" icon={ChartLine} onClick={() => router.push(trendPath({ job: selectedRows[0]?.id }))}>
                Trend
              </Button>
            )}
          </>
        }
        filters={
          <FilterBar list={list} search="Filter by name" searchParam="name">
            <FilterInput
              label="Agent or model"
              className="min-w-0 flex-1 basis-36 sm:max-w-44"
              value={params.agent}
              onFilter={(agent) => filter({ agent }, 'type')}
            />
            <FilterSelect
              label="State"
              any="Any state"
              value={params.state}
              words={wordsOf(jobLooks)}
              onFilter={(state) => filter({ state }, 'push')}
            />
            <FilterSelect
              label="Source"
              any="Any source"
              value={params.source}
              words={sourceKinds}
              onFilter={(kind) => filter({ source: kind }, 'push')}
            />
            <FilterSelect
              label="Time"
              any="Any time"
              value={params.created}
              words={ageWords}
              onFilter={(created) => filter({ created }, 'push')}
            />
          </FilterBar>
        }
        tools={
          <ListMenus
            source={source}
            list={list}
            columns={chosen}
            call={{ path: '/v1/benchmark_jobs', method: 'benchmarkJobs.list', rows: 'jobs' }}
            serviceUrl={serviceUrl}
          />
        }
        empty={
          <EmptyState
            icon={Trophy}
            title="No benchmark jobs yet"
            action={create}
            sample={
              <CodeSample
                serviceUrl={serviceUrl}
                call={{
                  path: '/v1/benchmark_jobs',
                  method: 'benchmarkJobs.create',
                  body: {
                    spec: {
                      type: 'scenarios',
                      scenario_ids: ['scn_…'],
                      agent_configs: [{ name: 'my-agent', type: 'job_agent', kwargs: { command: '…' } }],
                    },
                  },
                  result: 'job',
                }}
              />
            }
          >
            A job runs one or more agents on a set of scenarios, each in its own devbox, and scores the results. Create
            one from a Harbor job file, a benchmark or a list of scenarios.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Benchmark jobs"
          columns={chosen.shown}
          onResize={chosen.resize}
          rowHref={({ id }) => paths.benchmarkJob(id)}
          selection={{ ...list.selection, labelOf }}
          onNearEnd={list.onNearEnd}
        />
      </ListPage>
      {isCreating !== undefined && <CreateJobDialog open={isCreating} onOpenChange={setIsCreating} />}
      {mayImport && <ImportDropZone onFile={startImport} />}
      {importing && (
        <ImportJobDialog key={importing.number} dropped={importing.file} onClose={() => setImporting(null)} />
      )}
    </>
  )
}

const labelOf = ({ name }: BenchmarkJob) => `Select ${name}`

const Outcomes = ({ job }: { job: BenchmarkJob }) => {
  const sum = (of: (counts: OutcomeCounts) => number) => ofAllRuns(job, of)
  const counts = [
    { word: 'completed', icon: CircleCheck, tone: 'text-ok', n: sum(({ completed }) => completed) },
    { word: 'failed', icon: CircleX, tone: 'text-danger', n: sum(({ failed }) => failed) },
    { word: 'timed out', icon: ClockAlert, tone: 'text-attention', n: sum(({ timedOut }) => timedOut) },
    { word: 'canceled', icon: Ban, tone: 'text-neutral', n: sum(({ cancelled }) => cancelled) },
    { word: 'in another state', icon: CircleHelp, tone: 'text-neutral', n: sum(({ other }) => other) },
  ].filter(({ n }) => n > 0)
  if (counts.length === 0) return <span className="text-muted">{hasJobEnded(job.state) ? 'None' : 'None yet'}</span>
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

const maxAgents = 2

const maxMetricLength = 20

export const AgentScores = ({ job }: { job: BenchmarkJob }) => {
  const [isOpen, setIsOpen] = useState(false)
  // A job may have ten thousand outcomes.
  const rows = useMemo(() => scoredAgents(job), [job])
  if (rows.length === 0) return <span className="text-muted">{hasJobEnded(job.state) ? 'None' : 'None yet'}</span>
  const more = rows.length - maxAgents
  const { judged_metric } = job
  const metric = judged_metric && judged_metric !== 'reward' ? `${truncate(judged_metric, maxMetricLength)} ` : ''
  return (
    <>
      <ul className="grid w-fit max-w-full gap-x-1.5 text-sm leading-4 max-sm:gap-y-1 sm:grid-cols-[minmax(0,auto)_auto_auto]">
        {rows.slice(0, isOpen ? rows.length : maxAgents).map(({ key, label, title, state, score }) => (
          <li key={key} className="gap-x-1.5 max-sm:flex max-sm:flex-wrap sm:col-span-3 sm:grid sm:grid-cols-subgrid">
            <span className="min-w-0 max-sm:basis-full" title={title}>
              <VisibleText truncate={3}>{label}</VisibleText>
            </span>{' '}
            {score?.mean == null ? (
              <span className="text-right text-muted">{score || state === 'finished' ? 'no score' : state}</span>
            ) : (
              <b className="tabular text-right font-semibold">{threeDecimals(score.mean)}</b>
            )}{' '}
            <span className="tabular whitespace-nowrap text-muted">{score && `${metric}${nText(score)}`}</span>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
          className="block text-sm leading-4 text-accent hover:underline"
        >
          {isOpen ? `Show only ${formatCount(maxAgents)}` : `and ${formatCount(more)} more`}
        </button>
      )}
    </>
  )
}

/** The best score and the number of agents, for narrow screens. */
const BestScore = ({ job }: { job: BenchmarkJob }) => {
  const [best, ...others] = useMemo(() => scoredAgents(job), [job])
  const mean = best?.score?.mean
  if (mean == null) return null
  return (
    <>
      <b className="font-semibold">{threeDecimals(mean)}</b>
      {others.length > 0 && <span className="text-muted"> best of {formatCount(others.length + 1)}</span>}
    </>
  )
}

const scoredAgents = (job: BenchmarkJob) => {
  const agents = agentRows(job)
  const labels = shortLabels(agents)
  const scores = agentScores(agents)
  return agents
    .map((agent, at) => ({
      ...agent,
      label: labels[at] ?? '',
      title: agentLabel(agent),
      score: scores[at] ?? null,
    }))
    .sort(
      byMean(
        ({ name }) => name,
        ({ score }) => score,
      ),
    )
}

const nText = ({ n, of }: AgentScore): string =>
  n === of ? `(n = ${formatCount(of)})` : `(n = ${`${formatCount(n)} of ${formatCount(of)}`})`

const ImportDropZone = ({ onFile }: { onFile: (file: File) => void }) => {
  const [isOver, setIsOver] = useState(false)
  const give = useEffectEvent(onFile)
  useEffect(() => {
    const listening = new AbortController()
    const { signal } = listening
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'copy'
      setIsOver(true)
    }
    const drop = (event: DragEvent) => {
      const [file] = event.dataTransfer?.files ?? []
      setIsOver(false)
      if (!file) return
      event.preventDefault()
      give(file)
    }
    document.addEventListener('dragover', over, { signal })
    document.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget ?? setIsOver(false), { signal })
    document.addEventListener('drop', drop, { signal })
    return () => listening.abort()
  }, [])
  return (
    isOver && (
      <div className="pointer-events-none fixed inset-0 z-40 flex items-center justify-center border-2 border-dashed border-accent bg-scrim">
        <p className="flex items-center gap-2 rounded-md bg-overlay px-3 py-2 text-lg font-medium shadow-overlay">
          <Upload aria-hidden className="size-4 shrink-0" />
          Drop a zip of jobs to import it
        </p>
      </div>
    )
  )
}
