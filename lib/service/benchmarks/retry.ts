import type { RetryPolicy } from './plan.ts'

/** Failures that a retry would hardly change; Harbor's list. */
export const notRetriedByDefault = [
  'AgentTimeoutError',
  'VerifierTimeoutError',
  'RewardFileNotFoundError',
  'RewardFileEmptyError',
  'VerifierOutputParseError',
  'ApiUsageLimitError',
  'AgentSafetyRefusalError',
  'AgentAuthenticationError',
  'ModelNotFoundError',
]

/** `retries`: retries so far. A canceled trial is never retried. */
export const isRetried = (retry: RetryPolicy, exceptionType: string, retries: number): boolean =>
  retries < retry.maxRetries &&
  exceptionType !== 'CancelledError' &&
  !retry.exclude.includes(exceptionType) &&
  (retry.include?.includes(exceptionType) ?? true)

export const retryDelaySeconds = (
  { minWaitSeconds, waitMultiplier, maxWaitSeconds }: RetryPolicy,
  retries: number,
): number => Math.min(minWaitSeconds * waitMultiplier ** retries, maxWaitSeconds)
