'use client'
import { useSyncExternalStore } from 'react'
import { serviceNow } from '#lib/client/clock.ts'

// For services that don't report `keep_alive_until_ms`: the time left is counted from the page's own last call.
let calls: ReadonlyMap<string, number> = new Map()
const listeners = new Set<() => void>()

export const noteKeptAlive = (devboxId: string): void => {
  calls = new Map(calls).set(devboxId, serviceNow())
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const none: ReadonlyMap<string, number> = new Map()

/** When this page last kept devboxes alive, by id. */
export const useKeptAlive = (): ReadonlyMap<string, number> =>
  useSyncExternalStore(
    subscribe,
    () => calls,
    () => none,
  )
