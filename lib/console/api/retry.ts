/** How long to wait before the next try at a stream: longer each time, up to 10 s, and not all pages at the same moment. */
export const retryMs = (attempt: number): number => Math.min(10_000, 500 * 2 ** attempt) * (0.8 + Math.random() * 0.4)

/** Resolves after so long, or at once when `signal` aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal.addEventListener('abort', finish)
  })
