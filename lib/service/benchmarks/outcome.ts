import type { scenarioOutcomeStates } from '#lib/contract/benchmark-jobs.ts'
import type { ScoringResult } from '#lib/contract/scenario-runs.ts'
import type { RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

/** Values by key, in file order, as the verifier wrote them. */
export type Rewards = Record<string, number>

/** Reward key that a job is judged by unless its importer chose another. */
export const defaultMetric = (metrics: readonly string[]): string | null =>
  metrics.includes('reward') ? 'reward' : (metrics[0] ?? null)

export interface Outcome {
  state: (typeof scenarioOutcomeStates)[number]
  /** Null unless the state is COMPLETED, and where the rewards lack the metric. */
  score: number | null
  failure_reason: RunFailure | null
}

/** Something of a task that is not as its author meant it. */
export interface Warning {
  sentence: string
  /** Whether it may change the score. */
  differs: boolean
}

/** Thrown for an exception by one of Harbor's names. */
export class TrialError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

export const asException = (error: unknown): RunFailure => {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  // Readers of results know neither JavaScript's Error nor the service's own.
  const isOurs = name === 'Error' || error instanceof ServiceError
  return { exception_type: isOurs ? 'RuntimeError' : name, exception_message: message }
}

/** A number of seconds as Python prints a float, which Harbor's messages do. */
export const pythonSeconds = (seconds: number): string => (Number.isInteger(seconds) ? `${seconds}.0` : `${seconds}`)

const timeouts = ['AgentTimeoutError', 'AgentSetupTimeoutError', 'VerifierTimeoutError', 'EnvironmentStartTimeoutError']

/** After these two Harbor runs the verifier all the same. */
export const judgedAllTheSame = ['AgentTimeoutError', 'NonZeroAgentExitCodeError']

/**
 * What a trial counts as, from what its verifier wrote and what went wrong. `metric` is the reward key it is judged by.
 *
 * Unspecified: trials with both rewards and a failure. When the agent failed or ran out of time and the verifier judged
 * what it left behind, the trial has that score, as under Harbor's own rules, and keeps the failure as its reason. An
 * agent that ran out of time with a score of 0 is a TIMEOUT, which the score of the run counts 0 as Harbor does.
 */
export const outcomeOf = (
  rewards: Rewards | null,
  exception: RunFailure | null,
  metric = rewards && defaultMetric(Object.keys(rewards)),
): Outcome => {
  const type = exception?.exception_type
  const ended = (state: Outcome['state']): Outcome => ({ state, score: null, failure_reason: exception })
  if (type === 'CancelledError') return ended('CANCELED')
  const score = rewards && metric !== null && Object.hasOwn(rewards, metric) ? (rewards[metric] ?? null) : null
  const isCounted = type === undefined || judgedAllTheSame.includes(type)
  const isEarned = rewards !== null && isCounted && ((score ?? 0) !== 0 || type !== 'AgentTimeoutError')
  if (isEarned) return { state: 'COMPLETED', score, failure_reason: exception }
  return ended(type !== undefined && timeouts.includes(type) ? 'TIMEOUT' : 'FAILED')
}

/** The result of a trial's scenario run: one entry per reward; null where it has no score. */
export const rewardResult = (rewards: Rewards | null, { score }: Outcome): ScoringResult | null =>
  rewards === null || score === null
    ? null
    : {
        score,
        scoring_function_results: Object.entries(rewards).map(([scoring_function_name, value]) => ({
          scoring_function_name,
          score: value,
          output: '',
          state: 'complete',
        })),
      }

/** Warns of a trial that has rewards, but not the one its job is judged by. Harbor counts it 0 in every mean. */
export const missingMetric = (rewards: Rewards | null, metric: string | null): string[] =>
  rewards === null || metric === null || Object.hasOwn(rewards, metric)
    ? []
    : [`The reward ${metric}, which the job is judged by, is missing; the run's score counts it as 0`]
