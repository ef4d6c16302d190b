'use client'
import { formatExact, formatRelative, formatSpan } from '#components/ui/time-text.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { formatDurationMs, formatUnit, isoTime } from '#lib/browser/format.ts'
import { type Devbox, hasEnded } from '#lib/contract/devboxes.ts'

export const Lifetime = ({ devbox: { create_time_ms, end_time_ms } }: { devbox: Devbox }) => {
  const text = useClock((nowMs) => {
    const ms = Math.max(0, (end_time_ms ?? nowMs) - create_time_ms)
    // Ticking seconds in every row would distract.
    return end_time_ms === null && ms < 60_000
      ? `< ${formatUnit(1, 'minute')}`
      : formatDurationMs(end_time_ms === null ? wholeMinutes(ms) : ms)
  })
  return <span suppressHydrationWarning>{text}</span>
}

const wholeMinutes = (ms: number) => Math.floor(ms / 60_000) * 60_000

export const StatusSince = ({ devbox }: { devbox: Devbox }) => {
  const since = sinceMs(devbox)
  const text = useClock((nowMs) => {
    if (since == null) return ''
    const ms = nowMs - since
    const isRelative = ms < justNowMs || ms >= longMs
    return hasEnded(devbox.status) || isRelative ? formatRelative(since, nowMs) : `for ${formatSpan(ms)}`
  })
  if (since == null) return null
  return (
    <time
      suppressHydrationWarning
      dateTime={isoTime(since)}
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = `Since ${formatExact(since)}`
      }}
      className="tabular relative z-1 hidden truncate text-sm text-muted @2xl:block"
    >
      {text}
    </time>
  )
}

/** Bounds outside which relative times read `just now` or show the date. */
const [justNowMs, longMs] = [5_000, 30 * 24 * 3_600_000]

const sinceMs = ({ status, state_transitions, end_time_ms }: Devbox) =>
  state_transitions.findLast((transition) => transition.status === status)?.transition_time_ms ?? end_time_ms
