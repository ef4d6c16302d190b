import { useSyncExternalStore } from 'react'
import { keptAliveNow, onKeptAlive } from './kept-alive.ts'

const none: ReadonlyMap<string, number> = new Map()

/** When this page last kept devboxes alive, by id. */
export const useKeptAlive = (): ReadonlyMap<string, number> =>
  useSyncExternalStore(onKeptAlive, keptAliveNow, () => none)
