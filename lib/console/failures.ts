import { ApiError } from '#lib/client/client.ts'

/** Whether the service or the way to it failed, rather than the request. */
export const isOutage = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 502)

/** Whether there is no such thing, or its id cannot be one. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'not_found' || error.code === 'invalid_argument')
