'use client'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { LiveState } from '#components/ui/live-badge.tsx'
import { problemOf } from '#components/ui/problem.ts'
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

export const LogStatus = ({ log: { health, hasEnded, error } }: { log: LogState }) => {
  if (error !== null) return <span className="text-danger">Couldn't follow the log: {problemOf(error).message}</span>
  if (hasEnded) return 'The devbox has ended. The log is complete.'
  return <LiveState health={health} what="the log" />
}
