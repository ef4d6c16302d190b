import type { BenchmarkJobList, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import type { ScenarioRun } from '#lib/contract/scenario-runs.ts'
import { agentsWithRuns } from '#lib/protocol/job-agents.ts'
import { countedScore, passes, scaleOf } from '#lib/statistics/tallies.ts'

export interface AgentRun {
  job_id: string
  job_name: string
  agent_name: string
  model_name: string | null
  time_ms: number | null
}

export interface ScenarioOutcomes {
  agents: Readonly<Record<string, AgentRun>>
  outcomes: readonly (ScenarioOutcome & { benchmark_run_id: string })[]
  n_jobs: number
  has_older_jobs: boolean
}

export const scenarioOutcomesOf = (id: string, { jobs, has_more }: BenchmarkJobList): ScenarioOutcomes => ({
  agents: Object.fromEntries(
    jobs.flatMap((job) =>
      agentsWithRuns(job).map(({ key, name, model }): [string, AgentRun] => [
        key,
        { job_id: job.id, job_name: job.name, agent_name: name, model_name: model, time_ms: job.create_time_ms },
      ]),
    ),
  ),
  outcomes: jobs.flatMap((job) =>
    agentsWithRuns(job).flatMap(({ key: benchmark_run_id, outcome }) =>
      (outcome?.scenario_outcomes ?? [])
        .filter(({ scenario_definition_id }) => scenario_definition_id === id)
        .map((each) => ({ ...each, benchmark_run_id })),
    ),
  ),
  n_jobs: jobs.length,
  has_older_jobs: has_more,
})

export interface ScenarioAttempt {
  key: string
  /** Null if setup failed. */
  scenario_run_id: string | null
  benchmark_run_id: string | null
  agent: AgentRun | null
  /** As reported: outcomes in upper case, scenario runs in lower case. */
  state: string
  /** COMPLETED, FAILED, TIMEOUT or CANCELED; null if active or unknown. */
  outcome: string | null
  score: number | null
  time_ms: number | null
  duration_ms: number | null
  failure: ScenarioOutcome['failure_reason']
}

const outcomeOfState: Readonly<Record<string, string>> = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  timeout: 'TIMEOUT',
  canceled: 'CANCELED',
}
const knownOutcomes: readonly string[] = Object.values(outcomeOfState)

/** Attempts from scenario runs and jobs without duplicates, newest first. */
export const scenarioAttempts = (
  runs: readonly ScenarioRun[],
  known: Pick<ScenarioOutcomes, 'agents' | 'outcomes'>,
): ScenarioAttempt[] => {
  const agentOf = (id: string | null) =>
    (id !== null && Object.hasOwn(known.agents, id) ? known.agents[id] : null) ?? null
  const byRun = new Map(known.outcomes.map((outcome) => [outcome.scenario_run_id ?? '', outcome]))
  const listed = new Set(runs.map(({ id }) => id))
  const ofRuns = runs.map((run): ScenarioAttempt => {
    const outcome = byRun.get(run.id)
    const benchmark_run_id = run.benchmark_run_id ?? outcome?.benchmark_run_id ?? null
    return {
      key: run.id,
      scenario_run_id: run.id,
      benchmark_run_id,
      agent: agentOf(benchmark_run_id),
      state: outcome?.state ?? run.state,
      outcome: outcome ? knownOutcome(outcome.state) : (outcomeOfState[run.state] ?? null),
      score: finite(outcome ? outcome.score : run.scoring_contract_result?.score),
      time_ms: finite(run.start_time_ms),
      duration_ms: finite(outcome?.duration_ms ?? run.duration_ms),
      failure: outcome?.failure_reason,
    }
  })
  const unlisted = known.outcomes.flatMap((outcome, at): ScenarioAttempt[] => {
    if (outcome.scenario_run_id != null && listed.has(outcome.scenario_run_id)) return []
    const agent = agentOf(outcome.benchmark_run_id)
    return [
      {
        key: outcome.scenario_run_id ?? `${outcome.benchmark_run_id} ${at}`,
        scenario_run_id: outcome.scenario_run_id ?? null,
        benchmark_run_id: outcome.benchmark_run_id,
        agent,
        state: outcome.state,
        outcome: knownOutcome(outcome.state),
        score: finite(outcome.score),
        time_ms: finite(agent?.time_ms),
        duration_ms: finite(outcome.duration_ms),
        failure: outcome.failure_reason,
      },
    ]
  })
  return [...ofRuns, ...unlisted].sort((a, b) => (b.time_ms ?? 0) - (a.time_ms ?? 0))
}

const knownOutcome = (state: string): string | null => (knownOutcomes.includes(state) ? state : null)

const finite = (value: number | null | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

export interface AgentHistory {
  key: string
  agent: Pick<AgentRun, 'agent_name' | 'model_name'> | null
  attempts: readonly ScenarioAttempt[]
  /** Counted attempts, with failures and timeouts as 0. */
  n_counted: number
  /** Null if scores are outside 0 to 1. */
  n_passed: number | null
  mean: number | null
  n_failed: number
  n_timeout: number
  n_cancelled: number
  n_jobs: number
}

const asOutcome = ({ outcome, score }: ScenarioAttempt) => ({ state: outcome ?? '', score })

/** By agent and model, most recent first. */
export const agentHistories = (attempts: readonly ScenarioAttempt[]): AgentHistory[] => {
  const { threshold } = scaleOf([{ outcomes: attempts.map(asOutcome) }], undefined)
  const byAgent = Map.groupBy(attempts, ({ agent }) =>
    agent ? JSON.stringify([agent.agent_name, agent.model_name]) : '',
  )
  return [...byAgent].map(([key, own]): AgentHistory => {
    const scores = own.flatMap((each) => countedScore(asOutcome(each), 'zero') ?? [])
    const inState = (state: string) => own.filter(({ outcome }) => outcome === state).length
    return {
      key,
      agent: own[0]?.agent ?? null,
      attempts: own,
      n_counted: scores.length,
      n_passed: threshold === null ? null : scores.filter((score) => passes(score, threshold)).length,
      mean: scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length,
      n_failed: inState('FAILED'),
      n_timeout: inState('TIMEOUT'),
      n_cancelled: inState('CANCELED'),
      n_jobs: new Set(own.flatMap(({ agent }) => agent?.job_id ?? [])).size,
    }
  })
}
