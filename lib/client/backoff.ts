export interface Backoff {
  firstMs: number
  maxMs: number
}

/**
 * How long to wait before the next attempt after a failure; `attempt` counts from 0. Twice as long each time,
 * up to `maxMs`. A fifth more or less by chance, so that callers that lost the same service do not come back in step.
 */
export const backoffMs = (attempt: number, { firstMs, maxMs }: Backoff, random = Math.random): number =>
  Math.min(maxMs, firstMs * 2 ** attempt) * (0.8 + random() * 0.4)

/** Resolves after so long, or at once when `signal` aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise<void>((resolve) => {
    if (signal.aborted) return resolve()
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal.addEventListener('abort', finish)
  })
