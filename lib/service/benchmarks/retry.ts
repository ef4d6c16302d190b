import type { RetryPolicy } from './plan.ts'

/** What another run of the same trial would hardly change; Harbor's list. */
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

/** Whether a trial that ended with this exception is run again, after `retries` retries. A cancelled one never is. */
export const isRetried = (retry: RetryPolicy, exceptionType: string, retries: number): boolean =>
  retries < retry.maxRetries &&
  exceptionType !== 'CancelledError' &&
  !retry.exclude.includes(exceptionType) &&
  (retry.include?.includes(exceptionType) ?? true)

/** How long to wait before the retry that follows `retries` others. */
export const retryDelaySeconds = (
  { minWaitSeconds, waitMultiplier, maxWaitSeconds }: RetryPolicy,
  retries: number,
): number => Math.min(minWaitSeconds * waitMultiplier ** retries, maxWaitSeconds)
