'use client'
import { useClock } from '#components/ui/use-clock.ts'
import { formatCountdown, isoTime } from '#lib/browser/format.ts'
import { timeLeftMs } from './alert-feed.ts'

/** Time left. Silent for screen readers: the alert bar announces milestones instead. */
export const Countdown = ({ deadlineMs }: { deadlineMs: number }) => {
  const text = useClock((nowMs) => formatCountdown(timeLeftMs(deadlineMs, nowMs)))
  return (
    <span suppressHydrationWarning role="timer" aria-live="off" className="tabular" title={isoTime(deadlineMs)}>
      {text}
    </span>
  )
}
