'use client'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useAddress } from '#components/list/use-address.ts'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import type { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { sumOf } from '#lib/statistics/means.ts'
import { benchmarkJobQueries } from '../job/queries.ts'
import { formatScore } from '../job-figures.ts'
import { AgentName, RunScore, TextFact } from '../score.tsx'
import { RunUsageText } from '../usage-text.tsx'
import { benchmarkRunQueries, jobNameOf, ownOrigin, type RunOrigin } from './queries.ts'
import { type Failures, metricOfRuns, ScenarioRunTable } from './scenario-run-table.tsx'
import { RunView, runPath } from './search-params.ts'

export const RunOverview = ({ id }: { id: string }) => {
  const { data: run } = useQuery(benchmarkRunQueries.get(id))
  const scenarioRuns = useQuery(benchmarkRunQueries.scenarioRuns(id))
  const origin = useOrigin(run)
  const jobId = origin?.job_id
  const job = useQuery({ ...benchmarkJobQueries.get(jobId ?? ''), enabled: jobId !== undefined })
  const failures = useMemo(() => failuresOf(job.data, id), [job.data, id])
  const path = useMemo(() => runPath(id), [id])
  const { view, change } = useAddress({ schema: RunView, path })
  return (
    <>
      {run && <RunFacts run={run} origin={origin} scenarioRuns={scenarioRuns.data} />}
      <section aria-label="Scenario runs" className="mt-8 space-y-2">
        <h2 className="text-lg font-medium">Scenario runs</h2>
        {scenarioRuns.data ? (
          <ScenarioRunTable list={scenarioRuns.data} failures={failures} view={view} change={change} />
        ) : scenarioRuns.error ? (
          <ErrorState title="Scenario runs could not be loaded" error={scenarioRuns.error} query={scenarioRuns} />
        ) : (
          <SkeletonRows columns={4} label="Loading scenario runs" />
        )}
      </section>
    </>
  )
}

const failuresOf = (job: BenchmarkJob | undefined, runId: string): Failures =>
  new Map(
    (job?.benchmark_outcomes ?? [])
      .filter(({ benchmark_run_id }) => benchmark_run_id === runId)
      .flatMap(({ scenario_outcomes }) => scenario_outcomes)
      .flatMap(({ scenario_run_id, failure_reason }) =>
        scenario_run_id && failure_reason ? [[scenario_run_id, failure_reason] as const] : [],
      ),
  )

interface RunFactsProps {
  run: BenchmarkRun
  origin: RunOrigin | undefined
  scenarioRuns: ScenarioRunList | undefined
}

const RunFacts = ({ run, origin, scenarioRuns }: RunFactsProps) => {
  const secrets = Object.entries(run.secrets_provided ?? {})
  const variables = Object.entries(run.environment_variables ?? {})
  const metric = run.score == null ? null : metricOfRuns(scenarioRuns?.runs ?? [])
  return (
    <Facts>
      <Fact label="Score">
        <RunScore run={run} outcomes={scenarioRuns && !scenarioRuns.has_more ? scenarioRuns.runs.length : undefined} />
        {metric && (
          <span className="text-muted">
            {' '}
            of <VisibleText max={80}>{metric}</VisibleText>
          </span>
        )}
        {run.score != null && scenarioRuns && (
          <p className="tabular text-sm text-muted">
            {scoreExplanation(run.score, scenarioRuns, run.job_id == null ? 'scenario runs' : 'trials')}
            {missingTrialsText(run)}
          </p>
        )}
      </Fact>
      {origin && <Origin origin={origin} />}
      <Fact label="Started">
        <RelativeTime ms={run.start_time_ms} />
        {run.duration_ms != null && `, took ${formatDurationMs(run.duration_ms)}`}
        {run.duration_ms == null && run.start_time_ms !== null && run.state !== 'running' && ', duration unknown'}
      </Fact>
      {run.usage && (
        <Fact label="Tokens and cost">
          <RunUsageText usage={run.usage} all={run.n_scenario_runs ?? null} />
        </Fact>
      )}
      <TextFact label="Purpose" text={run.purpose} />
      <Fact label="Metadata">
        <MetadataChips
          metadata={run.metadata}
          hrefFor={(key, value) => paths.benchmarkRuns({ metadata: [{ key, op: 'eq', value }] })}
          empty={<span className="text-muted">None</span>}
        />
      </Fact>
      {variables.length > 0 && (
        <Fact label="Environment" className="font-mono text-sm break-all">
          {variables.map(([name, value]) => (
            <div key={name}>
              <VisibleText max={120}>{name}</VisibleText>=<VisibleText max={400}>{value}</VisibleText>
            </div>
          ))}
        </Fact>
      )}
      {secrets.length > 0 && (
        <Fact label="Secrets" className="font-mono text-sm break-all">
          {secrets.map(([name, secret]) => (
            <div key={name}>
              <VisibleText max={120}>{name}</VisibleText> <span className="font-sans text-muted">from secret</span>{' '}
              <VisibleText max={120}>{secret}</VisibleText>
            </div>
          ))}
        </Fact>
      )}
    </Facts>
  )
}

const useOrigin = (run: BenchmarkRun | undefined): RunOrigin | undefined => {
  const own = run && ownOrigin(run)
  const jobName = jobNameOf(run?.name)
  const { data: found } = useQuery({ ...benchmarkRunQueries.origins(jobName), enabled: own === null && jobName !== '' })
  return own ?? (run && found?.[run.id])
}

const Origin = ({ origin }: { origin: RunOrigin }) => (
  <>
    <Fact label="Agent">
      <AgentName name={origin.agent_name} model={origin.model_name} />
    </Fact>
    <Fact label="Job">
      <TextLink href={paths.benchmarkJob(origin.job_id)} prefetch={false}>
        <VisibleText max={200}>{origin.job_name}</VisibleText>
      </TextLink>
    </Fact>
  </>
)

export const missingTrialsText = ({ state, n_scenario_runs, n_total_trials }: BenchmarkRun): string => {
  if (state === 'running' || n_scenario_runs == null || n_total_trials == null) return ''
  const missing = n_total_trials - n_scenario_runs
  return missing > 0 ? ` ${formatCount(missing)} of ${formatCount(n_total_trials)} planned trials are missing.` : ''
}

/** Explains how the score of a finished run was computed. */
export const scoreExplanation = (
  score: number,
  { runs, has_more, total_count }: ScenarioRunList,
  nouns = 'scenario runs',
): string => {
  const scores = runs.flatMap(({ state, scoring_contract_result: result }) =>
    state === 'completed' && result && Number.isFinite(result.score) ? [result.score] : [],
  )
  const sum = sumOf(scores)
  if (has_more)
    return `Not verified: only ${formatCount(runs.length)}${total_count == null ? '' : ` of ${formatCount(total_count)}`} ${nouns} are listed. Usually the sum of scores divided by all ${nouns}, including those without a score.`
  const points = `${formatScore(sum)} points over ${formatCount(runs.length)} ${nouns}`
  const others = runs.length - scores.length
  if (runs.length === 0 || Math.abs(sum / runs.length - score) > 0.0005 * Math.max(1, Math.abs(score)))
    return `Computed differently by the service: ${points}${runs.length === 0 ? '' : `, mean ${formatScore(sum / runs.length)}`}.`
  return others === 0
    ? `${points}.`
    : `${points}; ${formatCount(others)} without a score ${others === 1 ? 'counts' : 'count'} as 0.`
}
