import { setTimeout as delay } from 'node:timers/promises'
import { logFailure } from './log.ts'

const retryMs = 1000

/** Retries a background write until it succeeds, `signal` aborts or the database closes (undefined). */
export const untilStored = async <T>(write: () => T, problem: string, signal?: AbortSignal): Promise<T | undefined> => {
  for (let isLogged = false; ; isLogged = true) {
    try {
      return write()
    } catch (error) {
      if (signal?.aborted || (error as NodeJS.ErrnoException).code === 'ERR_INVALID_STATE') return undefined
      if (!isLogged) logFailure(`${problem}; retrying`)(error)
      await delay(retryMs, undefined, { ref: false, ...(signal && { signal: signal }) }).catch(() => undefined)
    }
  }
}
