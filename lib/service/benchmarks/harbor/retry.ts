import type { HarborRetry } from './plan.ts'

/** What a second try would hardly change. */
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

/** Whether a trial that ended with this exception is tried again, after `retries` retries. A cancelled one never is. */
export const isRetried = (retry: HarborRetry, exceptionType: string, retries: number): boolean =>
  retries < retry.maxRetries &&
  exceptionType !== 'CancelledError' &&
  !retry.exclude.includes(exceptionType) &&
  (retry.include?.includes(exceptionType) ?? true)

/** How long to wait before the retry that follows `retries` others. */
export const retryDelaySeconds = (
  { minWaitSeconds, waitMultiplier, maxWaitSeconds }: HarborRetry,
  retries: number,
): number => Math.min(minWaitSeconds * waitMultiplier ** retries, maxWaitSeconds)
