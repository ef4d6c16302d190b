import type { scenarioOutcomeStates } from '#lib/contract/benchmark-jobs.ts'
import type { RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

/** Values by name, as the verifier wrote them. */
export type Rewards = Record<string, number>

export interface Outcome {
  state: (typeof scenarioOutcomeStates)[number]
  /** From 0 to 1; null unless the state is COMPLETED. */
  score: number | null
  failure_reason: RunFailure | null
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

/**
 * What a trial counts as, from what its verifier wrote and what went wrong.
 *
 * Unspecified: trials with both. When the agent ran out of time the outcome is TIMEOUT and the reward stands in the logs
 * only, because a score is defined for completed scenarios alone. When the agent failed and the verifier judged what it
 * left behind, the trial has that score, as under Harbor's own rules, and keeps the failure as its reason.
 */
export const outcomeOf = (rewards: Rewards | null, exception: RunFailure | null): Outcome => {
  const type = exception?.exception_type
  const ended = (state: Outcome['state']): Outcome => ({ state, score: null, failure_reason: exception })
  if (type === 'CancelledError') return ended('CANCELED')
  if (type !== undefined && timeouts.includes(type)) return ended('TIMEOUT')
  if (rewards === null || (type !== undefined && type !== 'NonZeroAgentExitCodeError')) return ended('FAILED')
  return { state: 'COMPLETED', score: scoreOf(rewards), failure_reason: exception }
}

/** Unspecified: the score of several rewards none of which is called `reward`. It is their mean; of none at all, 0. */
const scoreOf = (rewards: Rewards): number => {
  const values = Object.values(rewards)
  const raw = rewards.reward ?? (values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length)
  return Math.min(1, Math.max(0, raw))
}
