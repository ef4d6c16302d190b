'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import Link from 'next/link'
import { useEffect, useState } from 'react'
import { DetailPage, MissingPage } from '#components/layout/detail-page.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleLines, VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { formatCount, formatDurationMs } from '#lib/console/frame/format.ts'
import { benchmarkJobQueries, followJob } from '#lib/console/queries/benchmark-jobs.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { BenchmarkState } from './benchmark-state.tsx'
import { type AgentRow, agentRows, progressOf } from './job-figures.ts'
import { JobSource } from './job-source.tsx'
import { OutcomeTable } from './outcome-table.tsx'
import { AgentName, AverageScore, Progress } from './score.tsx'

const detailed = { noun: 'benchmark job', all: { href: paths.benchmarkJobs(), label: 'All jobs' } }

export const JobDetail = ({ id }: { id: string }) => (
  <DetailPage {...detailed} query={useQuery(benchmarkJobQueries.get(id))}>
    {(job) => <Job job={job} />}
  </DetailPage>
)

export const JobMissing = () => <MissingPage {...detailed} />

const Job = ({ job }: { job: BenchmarkJob }) => {
  const client = useQueryClient()
  const goesOn = !hasJobEnded(job.state)
  useEffect(() => (goesOn ? followJob(client, job.id) : undefined), [client, job.id, goesOn])
  const progress = progressOf(job)
  const rows = agentRows(job)
  return (
    <>
      <PageHeader
        back={{ href: paths.benchmarkJobs(), label: 'Benchmark jobs' }}
        title={<VisibleText max={200}>{job.name}</VisibleText>}
        id={job.id}
        badge={
          <span role="status">
            <BenchmarkState of="job" state={job.state} />
          </span>
        }
        description={
          <span className="inline-flex flex-wrap items-center gap-x-4 gap-y-1">
            <span>
              Created <RelativeTime ms={job.create_time_ms} />
            </span>
            <span className="inline-flex items-center gap-2">
              Trials <Progress {...progress} label="Progress of the job" />
            </span>
          </span>
        }
      />
      {job.failure_reason && (
        <Banner tone="danger" className="mb-4 rounded-md" title="The job failed">
          <span className="whitespace-pre-wrap">
            <VisibleLines max={4000}>{job.failure_reason}</VisibleLines>
          </span>
        </Banner>
      )}
      <div className="space-y-8">
        <section aria-label="Agents" className="space-y-3">
          <h2 className="text-lg font-medium">Agents</h2>
          {rows.length === 0 ? (
            <p className="text-muted">The job has not told its agents yet.</p>
          ) : (
            <DataTable caption="Agents of the job" columns={agentColumns} rows={rows} rowKey={({ key }) => key} />
          )}
        </section>
        <Outcomes rows={rows} />
        <JobSource job={job} />
      </div>
    </>
  )
}

const agentColumns: Column<AgentRow>[] = [
  {
    id: 'agent',
    header: 'Agent',
    priority: 1,
    cell: ({ name, model }) => <AgentName name={name} model={model} />,
  },
  {
    id: 'score',
    header: 'Average score',
    priority: 2,
    width: '11rem',
    cell: ({ outcome }) =>
      outcome ? <AverageScore outcome={outcome} /> : <span className="text-muted">None yet</span>,
  },
  {
    id: 'state',
    header: 'State',
    priority: 3,
    width: '8rem',
    cell: ({ state, run }) =>
      state === 'pending' ? (
        <BenchmarkState of="job" state="queued" />
      ) : (
        <BenchmarkState of="run" state={state === 'running' ? 'running' : (run?.state ?? 'completed')} />
      ),
  },
  {
    id: 'counts',
    header: 'Completed, failed, timed out',
    priority: 3,
    width: '13rem',
    align: 'right',
    cell: ({ outcome }) =>
      outcome
        ? `${formatCount(outcome.n_completed)}, ${formatCount(outcome.n_failed)}, ${formatCount(outcome.n_timeout)}`
        : '',
  },
  {
    id: 'duration',
    header: 'Duration',
    priority: 3,
    width: '7rem',
    align: 'right',
    cell: ({ outcome, run }) =>
      outcome?.duration_ms != null ? (
        formatDurationMs(outcome.duration_ms)
      ) : run ? (
        <>
          since <RelativeTime ms={run.start_time_ms} />
        </>
      ) : (
        ''
      ),
  },
  {
    id: 'run',
    header: 'Run',
    priority: 3,
    width: '6rem',
    cell: ({ runId }) =>
      runId && (
        <Link href={paths.benchmarkRun(runId)} title={runId} className="relative z-1 text-accent hover:underline">
          Open run
        </Link>
      ),
  },
]

/** The scenarios of one agent at a time. */
const Outcomes = ({ rows }: { rows: readonly AgentRow[] }) => {
  const withOutcome = rows.filter(({ outcome }) => outcome !== null)
  const [chosen, setChosen] = useState<string | null>(null)
  const row = withOutcome.find(({ key }) => key === chosen) ?? withOutcome[0]
  if (!row?.outcome) return null
  return (
    <section aria-label="Scenario outcomes" className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="text-lg font-medium">Scenario outcomes</h2>
        {withOutcome.length > 1 && (
          <fieldset className="flex flex-wrap gap-1">
            <legend className="sr-only">Agent</legend>
            {withOutcome.map(({ key, name, model }) => (
              <label
                key={key}
                className="inline-flex h-7 cursor-pointer items-center rounded-md border border-line px-2 text-sm has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-focus"
              >
                <input
                  type="radio"
                  name="agent"
                  className="sr-only"
                  checked={key === row.key}
                  onChange={() => setChosen(key)}
                />
                <VisibleText max={60}>{model ? `${name} · ${model}` : name}</VisibleText>
              </label>
            ))}
          </fieldset>
        )}
      </div>
      <OutcomeTable outcomes={row.outcome.scenario_outcomes} />
    </section>
  )
}
