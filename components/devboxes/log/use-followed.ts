'use client'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { FollowedRecords, RecordsState } from './followed-records.ts'

/** What `make` makes of the log of a devbox, followed while it is on screen. */
export const useFollowed = <Snapshot extends RecordsState>(
  devboxId: string,
  make: (devboxId: string) => FollowedRecords<Snapshot>,
): Snapshot => {
  const feed = useMemo(() => make(devboxId), [devboxId, make])
  useEffect(() => {
    const leaving = new AbortController()
    void feed.follow(leaving.signal)
    return () => leaving.abort()
  }, [feed])
  return useSyncExternalStore(feed.subscribe, feed.getSnapshot, feed.getSnapshot)
}
