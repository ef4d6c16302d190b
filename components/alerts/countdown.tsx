'use client'
import { useQuery } from '@tanstack/react-query'
import { useClock } from '#components/ui/use-clock.ts'
import { formatCountdown, isoTime } from '#lib/browser/format.ts'
import { timeLeftMs } from './alert-feed.ts'
import { alertQueries } from './queries.ts'

/** Time left by the console's clock. Silent for screen readers: the alert bar announces milestones instead. */
export const Countdown = ({ deadlineMs }: { deadlineMs: number }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const text = useClock((nowMs) => formatCountdown(timeLeftMs(feed, deadlineMs, nowMs)))
  return (
    <span suppressHydrationWarning role="timer" aria-live="off" className="tabular" title={isoTime(deadlineMs)}>
      {text}
    </span>
  )
}
