import { serviceNow } from '#lib/client/clock.ts'

// For services that don't report `keep_alive_until_ms`: the time left is counted from the page's own last call.
let calls: ReadonlyMap<string, number> = new Map()
const listeners = new Set<() => void>()

export const noteKeptAlive = (devboxId: string): void => {
  calls = new Map(calls).set(devboxId, serviceNow())
  for (const listener of listeners) listener()
}

export const keptAliveNow = (): ReadonlyMap<string, number> => calls

export const onKeptAlive = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
