'use client'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { LogReader, LogState } from './log-reader.ts'

/** Follows the log of a devbox while the component is mounted. `create` must be stable. */
export const useDevboxLog = <Snapshot extends LogState>(
  devboxId: string,
  create: (devboxId: string) => LogReader<Snapshot>,
): Snapshot => {
  const reader = useMemo(() => create(devboxId), [devboxId, create])
  useEffect(() => {
    const leaving = new AbortController()
    void reader.follow(leaving.signal)
    return () => leaving.abort()
  }, [reader])
  return useSyncExternalStore(reader.subscribe, reader.getSnapshot, reader.getSnapshot)
}
