import { ApiError } from '#lib/client/api-error.ts'
import { serviceNow } from '#lib/client/clock.ts'

/** Whether the service or the connection to it failed, not the request. */
export const isOutage = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 502)

/** Whether the resource doesn't exist, or its id is malformed. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'not_found' || error.code === 'invalid_argument')

/** Whether the service doesn't have this operation. */
export const isUnsupported = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'not_implemented' || error.code === 'not_found')

export const isTransient = (error: unknown): boolean =>
  isOutage(error) || (error instanceof ApiError && error.code === 'rate_limited')

export const hasRetryAfter = (error: unknown): boolean => error instanceof ApiError && error.retryAfterMs !== undefined

const defaultRetryMs = 3_000

const remainingWaitMs = (error: unknown): number =>
  error instanceof ApiError ? (error.retryAtMs ?? 0) - serviceNow() : 0

interface QueryError {
  state: { error: Error | null }
}

/** False until the Retry-After of the last error has passed, even if the page was reopened. */
export const canRequest = ({ state: { error } }: QueryError): boolean => remainingWaitMs(error) <= 0

/** When to retry after this error, honoring Retry-After; false if a retry cannot help. */
export const retryDelayMs = (error: unknown): number | false => {
  if (!isTransient(error)) return false
  const waitMs = remainingWaitMs(error)
  return waitMs > 0 ? waitMs : defaultRetryMs
}

/** A refetch interval that retries sooner after a transient error. */
export const pollEvery =
  (ms: number) =>
  ({ state: { error } }: QueryError): number =>
    retryDelayMs(error) || ms
