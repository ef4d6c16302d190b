import type { BenchmarkJobList, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import type { ScenarioRun } from '#lib/contract/scenario-runs.ts'
import { agentsWithRuns } from '#lib/protocol/job-agents.ts'
import { meanOf } from '#lib/statistics/means.ts'
import { countedScore, passes, scaleOf } from '#lib/statistics/tallies.ts'
import { originsOf, type RunOrigin } from '../run/queries.ts'

type JobOutcome = ScenarioOutcome & { benchmark_run_id: string }

export const scenarioOutcomesOf = (id: string, { jobs, has_more }: BenchmarkJobList) => ({
  origins: originsOf(jobs),
  outcomes: jobs.flatMap((job) =>
    agentsWithRuns(job).flatMap(({ key: benchmark_run_id, outcome }): JobOutcome[] =>
      (outcome?.scenario_outcomes ?? [])
        .filter(({ scenario_definition_id }) => scenario_definition_id === id)
        .map((each) => ({ ...each, benchmark_run_id })),
    ),
  ),
  n_jobs: jobs.length,
  has_older_jobs: has_more,
})

export type ScenarioOutcomes = ReturnType<typeof scenarioOutcomesOf>

export interface ScenarioAttempt {
  key: string
  /** Null if setup failed. */
  scenario_run_id: string | null
  benchmark_run_id: string | null
  agent: RunOrigin | null
  /** As reported: outcomes in upper case, scenario runs in lower case. */
  state: string
  /** COMPLETED, FAILED, TIMEOUT or CANCELED; null if active or unknown. */
  outcome: string | null
  score: number | null
  time_ms: number | null
  duration_ms: number | null
  failure: ScenarioOutcome['failure_reason']
}

const outcomeStates = ['COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELED']

/** Attempts from scenario runs and jobs without duplicates, newest first. */
export const scenarioAttempts = (
  runs: readonly ScenarioRun[],
  { origins, outcomes }: Pick<ScenarioOutcomes, 'origins' | 'outcomes'>,
): ScenarioAttempt[] => {
  const attemptOf = (key: string, run: ScenarioRun | null, outcome: JobOutcome | undefined): ScenarioAttempt => {
    const benchmark_run_id = run?.benchmark_run_id ?? outcome?.benchmark_run_id ?? null
    const agent = origins[benchmark_run_id ?? ''] ?? null
    const state = outcome?.state ?? run?.state ?? ''
    const ended = outcome ? state : state.toUpperCase()
    return {
      key,
      scenario_run_id: run?.id ?? outcome?.scenario_run_id ?? null,
      benchmark_run_id,
      agent,
      state,
      outcome: outcomeStates.includes(ended) ? ended : null,
      score: finite(outcome ? outcome.score : run?.scoring_contract_result?.score),
      time_ms: finite(run ? run.start_time_ms : agent?.job_time_ms),
      duration_ms: finite(outcome?.duration_ms ?? run?.duration_ms),
      failure: outcome?.failure_reason,
    }
  }
  const byRun = new Map(outcomes.map((outcome) => [outcome.scenario_run_id, outcome]))
  const listed = new Set<string | null | undefined>(runs.map(({ id }) => id))
  return [
    ...runs.map((run) => attemptOf(run.id, run, byRun.get(run.id))),
    ...outcomes.flatMap((outcome, at) =>
      listed.has(outcome.scenario_run_id)
        ? []
        : attemptOf(outcome.scenario_run_id ?? `${outcome.benchmark_run_id} ${at}`, null, outcome),
    ),
  ].sort((a, b) => (b.time_ms ?? 0) - (a.time_ms ?? 0))
}

const finite = (value: number | null | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

const asOutcome = ({ outcome, score }: ScenarioAttempt) => ({ state: outcome ?? '', score })

/** By agent and model, most recent first. Failures and timeouts count as 0. */
export const agentHistories = (attempts: readonly ScenarioAttempt[]) => {
  const scale = scaleOf([{ outcomes: attempts.map(asOutcome) }])
  const byAgent = Map.groupBy(attempts, ({ agent }) =>
    agent ? JSON.stringify([agent.agent_name, agent.model_name]) : '',
  )
  return [...byAgent].map(([key, own]) => {
    const scores = own.flatMap((each) => countedScore(asOutcome(each), 'zero') ?? [])
    const inState = (state: string) => own.filter(({ outcome }) => outcome === state).length
    return {
      key,
      agent: own[0]?.agent ?? null,
      attempts: own,
      n_counted: scores.length,
      /** Null if scores are outside 0 to 1. */
      n_passed: scale.threshold === null ? null : scores.filter((score) => passes(score, scale)).length,
      mean: meanOf(scores),
      n_failed: inState('FAILED'),
      n_timeout: inState('TIMEOUT'),
      n_cancelled: inState('CANCELED'),
      n_jobs: new Set(own.flatMap(({ agent }) => agent?.job_id ?? [])).size,
    }
  })
}

export type AgentHistory = ReturnType<typeof agentHistories>[number]
