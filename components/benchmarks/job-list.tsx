'use client'
import { Plus, Trophy } from 'lucide-react'
import { useState } from 'react'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { timeColumn } from '#components/list/columns.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListPage } from '#components/list/use-list-page.ts'
import { Button } from '#components/ui/button.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { curlPost } from '#lib/console/api/curl-post.ts'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import { type BenchmarkJob, type BenchmarkJobList, BenchmarkJobListQuery } from '#lib/contract/benchmark-jobs.ts'
import { BenchmarkState } from './benchmark-state.tsx'
import { agentRows, formatScore, progressOf } from './job-figures.ts'
import { Progress } from './score.tsx'

const CreateJobDialog = loadOnUse(async () => (await import('./create-job-dialog.tsx')).CreateJobDialog)

const source = {
  noun: 'job',
  nouns: 'jobs',
  schema: BenchmarkJobListQuery,
  path: paths.benchmarkJobs,
  filters: { name: 'name contains …' },
  pages: (query: BenchmarkJobListQuery) => benchmarkJobQueries.list(query),
  rowsOf: ({ jobs }: BenchmarkJobList) => jobs,
  isPolled: true,
}

export const JobList = ({ serviceUrl }: { serviceUrl: string }) => {
  const page = useListPage(source)
  const [isCreating, setIsCreating] = useState(false)
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
        actions={create}
        filterBar={
          <FilterBar
            page={page}
            search={{
              label: 'Filter by name',
              value: page.view.name,
              onFilter: (name) => page.narrow({ name }, 'type'),
            }}
          />
        }
        columns={5}
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
            A job runs a set of scenarios with one or more agents, each in a devbox of its own, and scores what they
            did. It is described by a Harbor job file, by a benchmark, or by a list of scenarios.
          </EmptyState>
        }
      >
        <DataTable
          {...page.table}
          caption="Benchmark jobs, newest first"
          columns={columns}
          rowHref={({ id }) => paths.benchmarkJob(id)}
        />
      </ListPage>
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
  timeColumn('Created', ({ create_time_ms }) => create_time_ms),
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
