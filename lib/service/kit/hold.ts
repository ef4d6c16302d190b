import type { EventEmitter } from 'node:events'

interface Hold<T> {
  changes: EventEmitter
  /** The event that says something may have changed. */
  name: string
  /** Asked at once and after each change; the first answer that is not undefined ends the wait. */
  check: () => T | undefined
  holdMs: number
  signal?: AbortSignal
}

/** The answer of `check`, or undefined when the time is over or the client has gone first. */
export const hold = <T>({ changes, name, check, holdMs, signal }: Hold<T>): Promise<T | undefined> => {
  const found = check()
  if (found !== undefined || holdMs <= 0 || signal?.aborted) return Promise.resolve(found)
  return new Promise((resolve) => {
    const finish = (value: T | undefined) => {
      clearTimeout(timer)
      changes.off(name, ask)
      signal?.removeEventListener('abort', giveUp)
      resolve(value)
    }
    const ask = () => {
      const value = check()
      if (value !== undefined) finish(value)
    }
    const giveUp = () => finish(undefined)
    const timer = setTimeout(giveUp, holdMs)
    changes.on(name, ask)
    signal?.addEventListener('abort', giveUp)
  })
}
