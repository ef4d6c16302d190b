import type { EventEmitter } from 'node:events'

interface ChangeWait<T> {
  changes: EventEmitter
  name: string
  check: () => T | undefined
  timeoutMs: number
  signal?: AbortSignal
}

export const waitForChange = <T>(wait: ChangeWait<T>): Promise<T | undefined> => {
  const { changes, name, check, timeoutMs, signal } = wait
  const found = check()
  if (found !== undefined || timeoutMs <= 0 || signal?.aborted) return Promise.resolve(found)
  return new Promise((resolve) => {
    const finish = (value: T | undefined) => {
      clearTimeout(timer)
      changes.off(name, recheck)
      signal?.removeEventListener('abort', giveUp)
      resolve(value)
    }
    const recheck = () => {
      const value = check()
      if (value !== undefined) finish(value)
    }
    const giveUp = () => finish(undefined)
    const timer = setTimeout(giveUp, timeoutMs)
    changes.on(name, recheck)
    signal?.addEventListener('abort', giveUp)
  })
}
