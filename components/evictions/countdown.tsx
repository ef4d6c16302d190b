'use client'
import { useQuery } from '@tanstack/react-query'
import { useClock } from '#components/ui/use-clock.ts'
import { formatCountdown, remainingMs } from '#lib/console/live/eviction-feed.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'
import type { Eviction } from '#lib/contract/evictions.ts'

/** Time left, ticking. A timer is not read out by itself; milestones are announced by the banner. */
export const Countdown = ({ eviction }: { eviction: Eviction }) => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const text = useClock((nowMs) => formatCountdown(remainingMs(feed, eviction, nowMs)))
  return (
    <span role="timer" aria-live="off" className="tabular">
      {text}
    </span>
  )
}
