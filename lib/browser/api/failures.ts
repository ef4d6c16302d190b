import { ApiError } from '#lib/client/api-error.ts'

/** Whether the service or the way to it failed, rather than the request. */
export const isOutage = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 502)

/** Whether there is no such thing, or its id cannot be one. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'not_found' || error.code === 'invalid_argument')

/** Whether the same request may succeed a little later. */
export const isPassing = (error: unknown): boolean =>
  isOutage(error) || (error instanceof ApiError && error.code === 'rate_limited')

/** The service has said when to come back. */
export const waitsAsTold = (error: unknown): boolean => error instanceof ApiError && error.retryAfterMs !== undefined

const recoveryMs = 3_000

/** How long the service still wants not to be asked. */
const aheadMs = (error: unknown): number => (error instanceof ApiError ? (error.retryAtMs ?? 0) - Date.now() : 0)

interface Asked {
  state: { error: Error | null }
}

/** Whether the service may be asked now. A page that is left and opened again must not ask sooner. */
export const mayAsk = ({ state: { error } }: Asked): boolean => aheadMs(error) <= 0

/** When to ask again after this error without anyone asking: soon, but not before the service wants it; false for never. */
export const asksAgainInMs = (error: unknown): number | false => {
  if (!isPassing(error)) return false
  const ms = aheadMs(error)
  return ms > 0 ? ms : recoveryMs
}

/** Asks every `ms`, but after an error as soon as it may help. */
export const askingEvery =
  (ms: number) =>
  ({ state: { error } }: Asked): number =>
    asksAgainInMs(error) || ms
