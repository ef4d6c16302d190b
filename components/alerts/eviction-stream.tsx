'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useClock } from '#components/ui/use-clock.ts'
import { remainingMs } from '#lib/browser/live/eviction-feed.ts'
import { devboxKeys } from '#lib/browser/queries/devbox-keys.ts'
import { evictionQueries, followEvictions } from '#lib/browser/queries/evictions.ts'

/** Keeps the eviction stream open while the frame is. */
export const EvictionStream = () => {
  const queryClient = useQueryClient()
  useEffect(() => followEvictions(queryClient), [queryClient])
  useDeadlines()
  return null
}

/** Asks for the devboxes anew when a deadline has passed, so that the page shows what came of it. */
const useDeadlines = () => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const queryClient = useQueryClient()
  const passed = useClock(
    (nowMs) => feed.pending.findLast((each) => remainingMs(feed, each, nowMs) === 0)?.devbox_id ?? null,
  )
  useEffect(() => {
    if (passed === null) return
    // The suspension itself takes a moment; after that, a devbox on its way is looked at often anyway.
    const timer = setTimeout(() => void queryClient.invalidateQueries({ queryKey: devboxKeys.all }), 300)
    return () => clearTimeout(timer)
  }, [passed, queryClient])
}
