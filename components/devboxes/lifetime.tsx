'use client'
import { formatExact, formatRelative, formatSpan } from '#components/ui/time-text.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { formatDurationMs, formatUnit, isoTime } from '#lib/browser/format.ts'
import { type Devbox, hasEnded } from '#lib/contract/devboxes.ts'

/** From creation to the end, or until now. */
export const Lifetime = ({ devbox: { create_time_ms, end_time_ms } }: { devbox: Devbox }) => {
  const text = useClock((nowMs) => {
    const ms = Math.max(0, (end_time_ms ?? nowMs) - create_time_ms)
    // Seconds that tick in every row would only distract.
    return end_time_ms === null && ms < 60_000
      ? `< ${formatUnit(1, 'minute')}`
      : formatDurationMs(end_time_ms === null ? wholeMinutes(ms) : ms)
  })
  return <span suppressHydrationWarning>{text}</span>
}

const wholeMinutes = (ms: number) => Math.floor(ms / 60_000) * 60_000

/** For how long a devbox has been in its status, or how long ago it ended. */
export const StatusSince = ({ devbox }: { devbox: Devbox }) => {
  const since = sinceMs(devbox)
  const text = useClock((nowMs) => {
    if (since == null) return ''
    const ms = nowMs - since
    const isBrief = ms < nowishMs || ms >= longMs
    return hasEnded(devbox.status) || isBrief ? formatRelative(since, nowMs) : `for ${formatSpan(ms)}`
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

/** Where a relative time says `just now`, and where it says the date. */
const [nowishMs, longMs] = [5_000, 30 * 24 * 3_600_000]

const sinceMs = ({ status, state_transitions, end_time_ms }: Devbox) =>
  state_transitions.findLast((transition) => transition.status === status)?.transition_time_ms ?? end_time_ms
