'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type BenchmarkJob, maxConcurrentTrials } from '#lib/contract/benchmark-jobs.ts'
import { type AgentRow, etaText, progressOf, shortLabels } from '../job-figures.ts'
import { benchmarkRunQueries } from '../run/queries.ts'
import { Progress } from '../score.tsx'
import { benchmarkJobMutations } from './queries.ts'

export const JobProgress = ({ job, agents }: { job: BenchmarkJob; agents: readonly AgentRow[] }) => {
  const [isChanging, setIsChanging] = useState(false)
  const { finished, total } = progressOf(job)
  const concurrency = job.job_spec?.orchestrator_config?.n_concurrent_trials
  const labels = shortLabels(agents)
  const running = agents.flatMap((agent, at) =>
    agent.state === 'running' && agent.runId !== null ? [{ agent, runId: agent.runId, label: labels[at] ?? '' }] : [],
  )
  return (
    <section aria-label="Progress" className="space-y-2 rounded-md border border-line bg-surface-1 px-4 py-3">
      <p className="flex flex-wrap items-center gap-x-6 gap-y-1">
        <Progress finished={finished} total={total} label="Job progress" />
        <span className="tabular text-muted">{etaText(job, agents)}</span>
        {concurrency != null && (
          <span className="flex items-center gap-2">
            <span className="tabular text-muted">{formatCountOf(concurrency, 'concurrent trial')}</span>
            <Button size="sm" needs="benchmarkJobs.setConcurrency" onClick={() => setIsChanging(true)}>
              Change
            </Button>
          </span>
        )}
      </p>
      {job.waiting && (
        <p className="tabular text-muted">
          <VisibleText max={200}>{job.waiting.message}</VisibleText>
        </p>
      )}
      {isChanging && <ConcurrencyDialog job={job} onClose={() => setIsChanging(false)} />}
      {running.length > 0 && (
        <dl className="space-y-1">
          {running.map((each) => (
            <RunningAgent key={each.runId} {...each} />
          ))}
        </dl>
      )}
    </section>
  )
}

const namesShown = 4

const RunningAgent = ({ agent, runId, label }: { agent: AgentRow; runId: string; label: string }) => {
  const { data } = useQuery(benchmarkRunQueries.runningScenarios(runId))
  const done = agent.outcome?.scenario_outcomes.length ?? 0
  return (
    <div className="flex flex-wrap gap-x-4">
      <dt>
        <Link href={paths.benchmarkRun(runId)} prefetch={false} className="font-medium hover:underline">
          <VisibleText max={80}>{label}</VisibleText>
        </Link>
      </dt>
      <dd className="tabular min-w-0 text-muted">
        {formatCount(done)} done
        {data &&
          (data.runs.length === 0
            ? '; nothing running'
            : data.runs.slice(0, namesShown).map(({ id, name, scenario_id, start_time_ms, state }) => (
                <span key={id}>
                  , <VisibleText max={60}>{name || scenario_id}</VisibleText> {state}
                  {start_time_ms != null && (
                    <>
                      {' '}
                      since <RelativeTime ms={start_time_ms} />
                    </>
                  )}
                </span>
              )))}
        {data && data.runs.length > namesShown && ` and ${formatCount(data.runs.length - namesShown)} more`}
      </dd>
    </div>
  )
}

const ConcurrencyDialog = ({ job, onClose }: { job: BenchmarkJob; onClose: () => void }) => {
  const [trials, setTrials] = useState(String(job.job_spec?.orchestrator_config?.n_concurrent_trials ?? ''))
  const change = useMutation(benchmarkJobMutations.setConcurrency())
  const isWrong = !/^[1-9]\d{0,3}$/.test(trials.trim()) || Number(trials) > maxConcurrentTrials
  const problem = isWrong ? `must be a whole number from 1 to ${maxConcurrentTrials}` : null
  const isUnknown = ['not_found', 'not_implemented'].includes(problemOf(change.error).code ?? '')
  return (
    <FormDialog
      open
      onOpenChange={(isOpen) => isOpen || onClose()}
      title="Change concurrency"
      description="Running trials continue. The service also limits trials across all jobs."
      busy={change.isPending}
      needs="benchmarkJobs.setConcurrency"
      submitLabel="Change"
      refusal={problem}
      error={isUnknown ? null : change.error}
      onSubmit={() => change.mutate({ id: job.id, n_concurrent_trials: Number(trials) }, { onSuccess: onClose })}
    >
      <TextField
        label="Concurrent trials"
        inputMode="numeric"
        error={isUnknown ? `This service can't change a running job: ${problemOf(change.error).message}` : problem}
        value={trials}
        onText={(text) => {
          setTrials(text)
          if (change.isError) change.reset()
        }}
      />
    </FormDialog>
  )
}
