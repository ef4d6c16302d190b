'use client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Plus, Search, Trophy } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type ReactNode, useState } from 'react'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { ListView } from '#components/list/list-view.tsx'
import { Button } from '#components/ui/button.tsx'
import { type Column, DataTable } from '#components/ui/data-table.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import type { BenchmarkJob, BenchmarkJobListQuery } from '#lib/contract/benchmark-jobs.ts'
import { BenchmarkState } from './benchmark-state.tsx'
import { CreateJobDialog } from './create-job-dialog.tsx'
import { agentRows, formatScore, progressOf } from './job-figures.ts'
import { Progress } from './score.tsx'

export const JobList = ({ query, serviceUrl }: { query: BenchmarkJobListQuery; serviceUrl: string }) => {
  const router = useRouter()
  const [isCreating, setIsCreating] = useState(false)
  const list = useInfiniteQuery(benchmarkJobQueries.list(query))
  const jobs = list.data?.pages.flatMap((page) => page.jobs) ?? []
  const href = (part: Partial<BenchmarkJobListQuery>) =>
    paths.benchmarkJobs({ ...query, starting_after: undefined, ...part })
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create job
    </Button>
  )
  const filters = query.name ? [{ text: `name contains ${query.name}`, hrefWithout: href({ name: undefined }) }] : []
  return (
    <>
      <PageHeader title="Benchmark jobs" actions={create} />
      <search className="mb-3 flex">
        <FilterInput
          data-filter-input
          icon={Search}
          type="search"
          label="Filter by name"
          className="w-full sm:w-60"
          maxLength={256}
          value={query.name ?? ''}
          onFilter={(name) => router.replace(href({ name: name || undefined }), { scroll: false })}
        />
      </search>
      <ListView
        noun="job"
        nouns="jobs"
        list={list}
        shown={jobs.length}
        columns={5}
        filters={filters}
        clearHref={paths.benchmarkJobs({ limit: query.limit })}
        newestHref={query.starting_after && href({})}
        none={<None create={create} serviceUrl={serviceUrl} />}
      >
        <DataTable
          caption="Benchmark jobs, newest first"
          columns={columns}
          rows={jobs}
          rowKey={({ id }) => id}
          rowHref={({ id }) => paths.benchmarkJob(id)}
          busy={list.isPlaceholderData}
        />
      </ListView>
      <CreateJobDialog open={isCreating} onOpenChange={setIsCreating} />
    </>
  )
}

const columns: Column<BenchmarkJob>[] = [
  {
    id: 'name',
    header: 'Name',
    priority: 1,
    width: 'max(9rem, 22%)',
    cell: ({ name }) => <VisibleText truncate>{name}</VisibleText>,
  },
  {
    id: 'state',
    header: 'State',
    priority: 2,
    width: '8.5rem',
    cell: ({ state }) => <BenchmarkState of="job" state={state} />,
  },
  {
    id: 'progress',
    header: 'Trials',
    priority: 3,
    width: '11.5rem',
    cell: (job) => <Progress {...progressOf(job)} label={`Progress of ${job.name}`} />,
  },
  { id: 'agents', header: 'Agents and scores', priority: 3, cell: (job) => <Scores job={job} /> },
  {
    id: 'created',
    header: 'Created',
    priority: 3,
    align: 'right',
    width: '7rem',
    cell: ({ create_time_ms }) => <RelativeTime ms={create_time_ms} />,
  },
]

const Scores = ({ job }: { job: BenchmarkJob }) => {
  const rows = agentRows(job)
  if (rows.length === 0) return <span className="text-muted">None yet</span>
  return (
    <span className="inline-flex flex-wrap gap-x-3">
      {rows.map(({ key, name, model, outcome, state }) => (
        <span key={key} className="whitespace-nowrap">
          <VisibleText max={40}>{model ? `${name} · ${model}` : name}</VisibleText>{' '}
          <span className="tabular text-muted">
            {outcome?.average_score == null
              ? outcome
                ? `no score (n = 0 of ${outcome.scenario_outcomes.length})`
                : state
              : `${formatScore(outcome.average_score)} (n = ${outcome.n_completed} of ${outcome.scenario_outcomes.length})`}
          </span>
        </span>
      ))}
    </span>
  )
}

const None = ({ create, serviceUrl }: { create: ReactNode; serviceUrl: string }) => (
  <EmptyState
    icon={Trophy}
    title="No benchmark jobs yet"
    action={create}
    command={`curl ${serviceUrl}/v1/benchmark_jobs \\
  -H "Authorization: Bearer $DEVDECK_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"spec": {"type": "scenarios", "scenario_ids": ["scn_…"],
       "agent_configs": [{"name": "my-agent", "type": "job_agent", "kwargs": {"command": "…"}}]}}'`}
  >
    A job runs a set of scenarios with one or more agents, each in a devbox of its own, and scores what they did. It is
    described by a Harbor job file, by a benchmark, or by a list of scenarios.
  </EmptyState>
)
