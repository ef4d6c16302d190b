import { setTimeout as delay } from 'node:timers/promises'
import { logFailure } from './log.ts'

const retryMs = 1000

/**
 * For a write that nobody waits for. What a full disk refuses is tried again every second until it is stored, or
 * `over` is aborted, or the database is closed: then undefined. `problem` is logged once.
 */
export const untilStored = async <T>(write: () => T, problem: string, over?: AbortSignal): Promise<T | undefined> => {
  for (let isLogged = false; ; isLogged = true) {
    try {
      return write()
    } catch (error) {
      if (over?.aborted || (error as NodeJS.ErrnoException).code === 'ERR_INVALID_STATE') return undefined
      if (!isLogged) logFailure(`${problem}; trying again`)(error)
      await delay(retryMs, undefined, { ref: false, ...(over && { signal: over }) }).catch(() => undefined)
    }
  }
}
