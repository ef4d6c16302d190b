'use client'
import { useQuery } from '@tanstack/react-query'
import { isAway, LiveBadge } from '#components/ui/live-badge.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { formatElapsedMs } from '#lib/browser/format.ts'
import type { LiveHealth } from '#lib/browser/live/follow.ts'
import { evictionQueries } from '#lib/browser/queries/evictions.ts'

/** What the service refuses is away for another reason than what is broken. */
export const streamState = ({ state, error }: LiveHealth) => (error?.code === 'forbidden' ? 'refused' : state)

/** Whether the eviction stream can be trusted right now, for the frame. */
export const StreamStatus = () => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const { sinceMs } = feed.health
  const away = useClock((nowMs) => (isAway(feed.health) ? formatElapsedMs(nowMs - sinceMs) : null))
  return (
    <span className="inline-flex items-center gap-1.5">
      {/* What is live, so that it is not taken for the rows below. */}
      <span className="hidden text-sm text-muted lg:inline">Eviction stream</span>
      <span role="status">
        <LiveBadge state={streamState(feed.health)} what="the eviction stream" />
      </span>
      {away && <span className="tabular hidden text-sm text-muted lg:inline">{`for ${away}`}</span>}
    </span>
  )
}
