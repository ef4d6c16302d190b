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

/** What happens to a job; `initialize` is its turn in the queue. */
export type JobEvent = 'initialize' | 'run' | 'complete' | 'fail' | 'cancel' | 'time_out'

const ends = { complete: 'completed', fail: 'failed', cancel: 'cancelled', time_out: 'timeout' } as const
const moves: Record<BenchmarkJobState, Partial<Record<JobEvent, BenchmarkJobState>>> = {
  queued: { initialize: 'initializing', cancel: 'cancelled', fail: 'failed', time_out: 'timeout' },
  // The same event may come twice when the service restarts in between.
  initializing: { ...ends, initialize: 'initializing', run: 'running' },
  running: ends,
  completed: {},
  failed: {},
  cancelled: {},
  timeout: {},
  incomplete: {},
}

/** The state after `event`, or undefined when the event means nothing in this state. */
export const nextJobState = (state: string, event: JobEvent): BenchmarkJobState | undefined =>
  moves[state as BenchmarkJobState]?.[event]

/** A trial is one attempt of one agent at one scenario; here by their places in the job. */
export interface TrialPlace {
  attempt: number
  scenario: number
  agent: number
}

/** Every trial of a job in Harbor's order: each attempt goes through all scenarios, each of them through all agents. */
export function* trialPlaces(attempts: number, scenarios: number, agents: number): Generator<TrialPlace> {
  for (let attempt = 0; attempt < attempts; attempt++)
    for (let scenario = 0; scenario < scenarios; scenario++)
      for (let agent = 0; agent < agents; agent++) yield { attempt, scenario, agent }
}

type OutcomeState = (typeof scenarioOutcomeStates)[number]

/** The last state of a trial's scenario run. */
export const scenarioRunStateOf: Record<OutcomeState, ScenarioRunState> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMEOUT: 'timeout',
  CANCELED: 'canceled',
}

/** What a scenario run counts as that a caller ended, so that its trial has no outcome. */
const outcomeByState: Record<string, OutcomeState> = {
  canceled: 'CANCELED',
  completed: 'COMPLETED',
  timeout: 'TIMEOUT',
  failed: 'FAILED',
}

/** Why a run has no score, as an outcome of a job tells it: named as Harbor names its exceptions, which readers of results know. */
export interface RunFailure {
  exception_type: string
  exception_message: string
}

/** A scenario run of a job that has ended and that no later one of its trial has replaced. */
export interface EndedTrial {
  id: string
  scenario_id: string
  scenario_name: string
  state: string
  outcome: string | null
  score: number | null
  /** Of a Harbor trial. */
  rewards: Record<string, number> | null
  failure: RunFailure | null
  start_time_ms: number
  end_time_ms: number
  /** From 0. */
  attempt: number | null
  warnings: string[] | null
  environment_differs: boolean
  agent_record: AgentRecord | null
}

/** What is known of an agent after a trial. */
export interface AgentRecord {
  version: string | null
  usage: AgentUsage
  /** Log files of the scenario run that have its trajectory. */
  trajectories: string[]
}

const scenarioOutcome = (trial: EndedTrial): ScenarioOutcome => {
  const state = trial.outcome ?? outcomeByState[trial.state] ?? 'FAILED'
  return {
    scenario_definition_id: trial.scenario_id,
    scenario_name: trial.scenario_name,
    state,
    scenario_run_id: trial.id,
    // Unspecified: the score of a scenario run that its caller completed without scoring it. It counts as nothing won.
    score: state !== 'COMPLETED' ? null : trial.rewards ? trial.score : (trial.score ?? 0),
    rewards: trial.rewards,
    duration_ms: durationOf(trial),
    failure_reason: trial.failure,
    attempt: trial.attempt === null ? null : trial.attempt + 1,
    warnings: trial.warnings,
    environment_differs: trial.environment_differs,
    agent_version: trial.agent_record?.version ?? null,
    usage: trial.agent_record?.usage ?? null,
    trajectories: trial.agent_record?.trajectories ?? [],
  }
}

interface RunOfJob {
  id: string
  /** How many trials it is to have, where that is known. */
  planned_trials?: number | null
  start_time_ms: number
  end_time_ms: number | null
  agent: { name: string; model_name?: string | null | undefined } | null
}

/** What one agent has achieved so far: every number is counted from `trials`. */
export const benchmarkOutcome = (run: RunOfJob, trials: readonly EndedTrial[]): BenchmarkOutcome => {
  // A retry begins after later attempts have: the order is that of the attempts all the same.
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
    average_score: scores.length === 0 ? null : scoreOver(scores, scores.length),
    duration_ms: durationOf(run),
    scenario_outcomes: outcomes,
  }
}

// What goes wrong before an agent has begun; the words are Harbor's.
const setUpFailures = [
  'SandboxBuildFailedError',
  'EnvironmentStartTimeoutError',
  'EnvironmentDiffersError',
  'InvalidTaskError',
  'TaskChangedError',
  'HealthcheckError',
  'AgentSetupTimeoutError',
  'AgentSetupError',
  // A task or a solution that is not there.
  'FileNotFoundError',
]

/**
 * Why a run could not be run at all, or null when it could: no trial of it got as far as its agent. Unspecified: when a
 * run, and with it a job, has failed. A wrong answer is a result, and so is an agent that fails.
 */
export const runFailure = (trials: readonly EndedTrial[]): string | null => {
  const failures = trials.flatMap(({ failure }) =>
    failure && setUpFailures.includes(failure.exception_type) ? [failure] : [],
  )
  const [first] = failures
  if (!first || failures.length < trials.length) return null
  const { exception_type, exception_message } = first
  return `No trial could be set up. The first one: ${exception_type}: ${exception_message}`
}

/**
 * How a job ends whose runs have all ended. Unspecified: what runs with different ends make. One that is completed
 * completes the job; where none is, one that failed fails it.
 */
export const jobEnd = (runs: readonly { state: BenchmarkRunState }[]): 'complete' | 'fail' | 'cancel' => {
  if (runs.some(({ state }) => state === 'completed')) return 'complete'
  return runs.some(({ state }) => state === 'failed') ? 'fail' : 'cancel'
}
