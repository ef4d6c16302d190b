import type { scenarioOutcomeStates } from '#lib/contract/benchmark-jobs.ts'
import type { ScoringResult } from '#lib/contract/scenario-runs.ts'
import type { RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

export type Rewards = Record<string, number>

export const defaultMetric = (metrics: readonly string[]): string | null =>
  metrics.includes('reward') ? 'reward' : (metrics[0] ?? null)

export interface Outcome {
  state: (typeof scenarioOutcomeStates)[number]
  score: number | null
  failure_reason: RunFailure | null
}

export interface Warning {
  sentence: string
  differs: boolean
}

export class TrialError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

export const asException = (error: unknown): RunFailure => {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  // Users know neither JavaScript's Error nor ServiceError.
  const isOurs = name === 'Error' || error instanceof ServiceError
  return { exception_type: isOurs ? 'RuntimeError' : name, exception_message: message }
}

/** Formats seconds as Python prints a float, like Harbor's messages. */
export const pythonSeconds = (seconds: number): string => (Number.isInteger(seconds) ? `${seconds}.0` : `${seconds}`)

const timeouts = ['AgentTimeoutError', 'AgentSetupTimeoutError', 'VerifierTimeoutError', 'EnvironmentStartTimeoutError']

/** Harbor runs the verifier after these two. */
export const scoredDespiteFailure = ['AgentTimeoutError', 'NonZeroAgentExitCodeError']

/** Unspecified: a verified trial's score counts whatever else failed, as in Harbor. A TIMEOUT with score 0 counts 0. */
export const outcomeOf = (
  rewards: Rewards | null,
  exception: RunFailure | null,
  metric = rewards && defaultMetric(Object.keys(rewards)),
): Outcome => {
  const type = exception?.exception_type
  const ended = (state: Outcome['state']): Outcome => ({ state, score: null, failure_reason: exception })
  if (type === 'CancelledError') return ended('CANCELED')
  const score = rewards && metric !== null && Object.hasOwn(rewards, metric) ? (rewards[metric] ?? null) : null
  const isCounted = type === undefined || scoredDespiteFailure.includes(type)
  const isEarned = rewards !== null && isCounted && ((score ?? 0) !== 0 || type !== 'AgentTimeoutError')
  if (isEarned) return { state: 'COMPLETED', score, failure_reason: exception }
  return ended(type !== undefined && timeouts.includes(type) ? 'TIMEOUT' : 'FAILED')
}

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

/** Harbor counts a missing metric as 0 in every mean. */
export const missingMetric = (rewards: Rewards | null, metric: string | null): string[] =>
  rewards === null || metric === null || Object.hasOwn(rewards, metric)
    ? []
    : [`The reward ${metric}, which scores the job, is missing and counts as 0`]
