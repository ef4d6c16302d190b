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
 * What a trial counts as, from what its verifier wrote and what went wrong.
 *
 * Unspecified: trials with both. When the agent failed or ran out of time and the verifier judged what it left behind,
 * the trial has that score, as under Harbor's own rules, and keeps the failure as its reason. An agent that ran out of
 * time and has earned nothing is a TIMEOUT, which the score of the run counts 0 as Harbor does.
 */
export const outcomeOf = (rewards: Rewards | null, exception: RunFailure | null): Outcome => {
  const type = exception?.exception_type
  const ended = (state: Outcome['state']): Outcome => ({ state, score: null, failure_reason: exception })
  if (type === 'CancelledError') return ended('CANCELED')
  const score = rewards && scoreOf(rewards)
  const isCounted = type === undefined || judgedAllTheSame.includes(type)
  const isEarned = score !== null && isCounted && (score > 0 || type !== 'AgentTimeoutError')
  if (isEarned) return { state: 'COMPLETED', score, failure_reason: exception }
  return ended(type !== undefined && timeouts.includes(type) ? 'TIMEOUT' : 'FAILED')
}

/** Unspecified: the score of several rewards none of which is called `reward`. It is their mean; of none at all, 0. */
const scoreOf = (rewards: Rewards): number => {
  const values = Object.values(rewards)
  const raw = rewards.reward ?? (values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length)
  return Math.min(1, Math.max(0, raw))
}
