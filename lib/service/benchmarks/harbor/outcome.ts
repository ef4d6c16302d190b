import type { scenarioOutcomeStates } from '#lib/contract/benchmark-jobs.ts'

/** Values by name, as the verifier wrote them. */
export type Rewards = Record<string, number>

/** Named as Harbor names its exceptions: readers of its results know these words. */
export interface TrialException {
  exception_type: string
  exception_message: string
}

export interface Outcome {
  state: (typeof scenarioOutcomeStates)[number]
  /** From 0 to 1; null unless the state is COMPLETED. */
  score: number | null
  failure_reason: TrialException | null
}

const timeouts = ['AgentTimeoutError', 'AgentSetupTimeoutError', 'VerifierTimeoutError', 'EnvironmentStartTimeoutError']

/**
 * What a trial counts as, from what its verifier wrote and what went wrong.
 *
 * Unspecified: trials with both. An agent that ran out of time has TIMEOUT, and its reward is told in the logs only,
 * because a score is defined for completed scenarios alone. One that failed but left a result behind that the verifier
 * judged has that score, as it has under Harbor's own rules, and keeps its failure as the reason.
 */
export const outcomeOf = (rewards: Rewards | null, exception: TrialException | null): Outcome => {
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
