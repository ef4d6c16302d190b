export interface Backoff {
  firstMs: number
  maxMs: number
}

/** Exponential backoff with 50% jitter, so that clients do not reconnect in step. `attempt` counts from 0. */
export const backoffMs = (attempt: number, { firstMs, maxMs }: Backoff, random = Math.random): number =>
  Math.min(maxMs, firstMs * 2 ** attempt) * (0.5 + random())

/** Resolves after `ms`, or at once when `signal` aborts. */
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
