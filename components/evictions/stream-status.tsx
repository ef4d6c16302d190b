'use client'
import { useQuery } from '@tanstack/react-query'
import { isAway, LiveBadge } from '#components/ui/live-badge.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { formatElapsedMs } from '#lib/console/frame/format.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'

/** Whether the eviction stream can be trusted right now, for the frame. */
export const StreamStatus = () => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const { state, sinceMs, error } = feed.health
  const away = useClock((nowMs) => (isAway(feed.health) ? formatElapsedMs(nowMs - sinceMs) : null))
  return (
    <span className="inline-flex items-center gap-1.5">
      {/* What is live, so that it is not taken for the rows below. */}
      <span className="hidden text-sm text-muted lg:inline">Eviction stream</span>
      <span role="status">
        <LiveBadge state={error?.code === 'forbidden' ? 'refused' : state} what="the eviction stream" />
      </span>
      {away && <span className="tabular hidden text-sm text-muted lg:inline">for {away}</span>}
    </span>
  )
}
