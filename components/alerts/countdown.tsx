'use client'
import { useQuery } from '@tanstack/react-query'
import { useClock } from '#components/ui/use-clock.ts'
import { isoTime } from '#lib/browser/format.ts'
import { formatCountdown, remainingMs } from '#lib/browser/live/eviction-feed.ts'
import { evictionQueries } from '#lib/browser/queries/evictions.ts'

/** Time left, ticking, by the console's clock. A timer is not read out by itself; milestones are announced by the bar. */
export const Countdown = ({ deadlineMs }: { deadlineMs: number }) => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const text = useClock((nowMs) => formatCountdown(remainingMs(feed, { eviction_deadline_ms: deadlineMs }, nowMs)))
  return (
    <span role="timer" aria-live="off" className="tabular" title={isoTime(deadlineMs)}>
      {text}
    </span>
  )
}
