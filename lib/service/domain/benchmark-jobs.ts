import type { AgentUsage } from '#lib/contract/agent-usage.ts'
import type {
  BenchmarkJobState,
  BenchmarkOutcome,
  ScenarioOutcome,
  scenarioOutcomeStates,
} from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRunState } from '#lib/contract/benchmark-runs.ts'
import type { ScenarioRunState } from '#lib/contract/scenario-runs.ts'
import { durationOf, scoreOver } from './benchmark-runs.ts'

export type JobEvent = 'initialize' | 'run' | 'complete' | 'fail' | 'cancel' | 'time_out'

const ends = { complete: 'completed', fail: 'failed', cancel: 'cancelled', time_out: 'timeout' } as const
const moves: Record<BenchmarkJobState, Partial<Record<JobEvent, BenchmarkJobState>>> = {
  queued: { initialize: 'initializing', cancel: 'cancelled', fail: 'failed', time_out: 'timeout' },
  // A restart may repeat `initialize`.
  initializing: { ...ends, initialize: 'initializing', run: 'running' },
  running: ends,
  completed: {},
  failed: {},
  cancelled: {},
  timeout: {},
  incomplete: {},
}

export const nextJobState = (state: string, event: JobEvent): BenchmarkJobState | undefined =>
  moves[state as BenchmarkJobState]?.[event]

export interface TrialPlace {
  attempt: number
  scenario: number
  agent: number
}

export function* trialPlaces(attempts: number, scenarios: number, agents: number): Generator<TrialPlace> {
  for (let attempt = 0; attempt < attempts; attempt++)
    for (let scenario = 0; scenario < scenarios; scenario++)
      for (let agent = 0; agent < agents; agent++) yield { attempt, scenario, agent }
}

type OutcomeState = (typeof scenarioOutcomeStates)[number]

export const scenarioRunStateOf: Record<OutcomeState, ScenarioRunState> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMEOUT: 'timeout',
  CANCELED: 'canceled',
}

/** For scenario runs without an outcome, because a caller ended them. */
const outcomeByState: Record<string, OutcomeState> = {
  canceled: 'CANCELED',
  completed: 'COMPLETED',
  timeout: 'TIMEOUT',
  failed: 'FAILED',
}

export interface RunFailure {
  exception_type: string
  exception_message: string
}

/** Exception type of a trial whose node was lost. */
export const nodeLost = 'NodeLostError'

export interface EndedTrial {
  id: string
  scenario_id: string
  scenario_name: string
  state: string
  outcome: string | null
  score: number | null
  rewards: Record<string, number> | null
  failure: RunFailure | null
  start_time_ms: number
  end_time_ms: number
  attempt: number | null
  warnings: string[] | null
  environment_differs: boolean
  engine: string | null
  agent_record: AgentRecord | null
}

export interface AgentRecord {
  version: string | null
  usage: AgentUsage
  trajectories: string[]
}

const scenarioOutcome = (trial: EndedTrial): ScenarioOutcome => {
  const state = trial.outcome ?? outcomeByState[trial.state] ?? 'FAILED'
  return {
    scenario_definition_id: trial.scenario_id,
    scenario_name: trial.scenario_name,
    state,
    scenario_run_id: trial.id,
    // Unspecified: a run completed without a score counts as 0.
    score: state !== 'COMPLETED' ? null : trial.rewards ? trial.score : (trial.score ?? 0),
    rewards: trial.rewards,
    duration_ms: durationOf(trial),
    failure_reason: trial.failure,
    attempt: trial.attempt === null ? null : trial.attempt + 1,
    warnings: trial.warnings,
    environment_differs: trial.environment_differs,
    engine: trial.engine,
    agent_version: trial.agent_record?.version ?? null,
    usage: trial.agent_record?.usage ?? null,
    trajectories: trial.agent_record?.trajectories ?? [],
  }
}

interface RunOfJob {
  id: string
  planned_trials?: number | null
  start_time_ms: number
  end_time_ms: number | null
  agent: { name: string; model_name?: string | null | undefined } | null
}

export const benchmarkOutcome = (
  run: RunOfJob,
  trials: readonly EndedTrial[],
  nodeLosses: NonNullable<BenchmarkOutcome['node_losses']> = [],
): BenchmarkOutcome => {
  // Retries may start after later attempts; list them in attempt order anyway.
  const outcomes = trials.map(scenarioOutcome).sort((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0))
  const scores = outcomes.flatMap(({ score }) => score ?? [])
  const count = (state: OutcomeState) => outcomes.filter((each) => each.state === state).length
  return {
    benchmark_run_id: run.id,
    agent_name: run.agent?.name ?? '',
    model_name: run.agent?.model_name ?? null,
    n_completed: count('COMPLETED'),
    n_failed: count('FAILED'),
    n_timeout: count('TIMEOUT'),
    n_canceled: count('CANCELED'),
    n_total_trials: run.planned_trials ?? null,
    n_environment_differs: outcomes.filter((each) => each.environment_differs).length,
    node_losses: nodeLosses,
    average_score: scores.length === 0 ? null : scoreOver(scores, scores.length),
    duration_ms: durationOf(run),
    scenario_outcomes: outcomes,
  }
}

// Harbor's names of failures before the agent starts.
const setUpFailures = [
  'SandboxBuildFailedError',
  'EnvironmentStartTimeoutError',
  'EnvironmentDiffersError',
  'InvalidTaskError',
  'TaskChangedError',
  'HealthcheckError',
  'AgentSetupTimeoutError',
  'AgentSetupError',
  // A missing task or solution.
  'FileNotFoundError',
]

/** Unspecified: a run fails if no trial reached its agent. Wrong answers and failing agents are results. */
export const runFailure = (trials: readonly EndedTrial[]): string | null => {
  const failures = trials.flatMap(({ failure }) =>
    failure && setUpFailures.includes(failure.exception_type) ? [failure] : [],
  )
  const [first] = failures
  if (!first || failures.length < trials.length) return null
  const { exception_type, exception_message } = first
  return `No trial could be set up. First error: ${exception_type}: ${exception_message}`
}

/** Unspecified: one completed run completes the job; otherwise one failed run fails it. */
export const jobEnd = (runs: readonly { state: BenchmarkRunState }[]): 'complete' | 'fail' | 'cancel' => {
  if (runs.some(({ state }) => state === 'completed')) return 'complete'
  return runs.some(({ state }) => state === 'failed') ? 'fail' : 'cancel'
}
