'use client'
import { classes } from './classes.ts'
import { formatExact, formatRelative, toDate } from './time-text.ts'
import { useClock } from './use-clock.ts'

export interface RelativeTimeProps {
  /** Epoch milliseconds. */
  ms: number
  prefix?: string
  className?: string
}

export const RelativeTime = ({ ms, prefix, className }: RelativeTimeProps) => {
  const relative = useClock((nowMs) => formatRelative(ms, nowMs))
  return (
    // The server's clock is a moment behind the browser's.
    <time
      suppressHydrationWarning
      dateTime={toDate(ms)?.toISOString()}
      // Written when it is looked at: in the reader's zone, which the server does not know.
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = formatExact(ms, Intl.DateTimeFormat().resolvedOptions().timeZone)
      }}
      className={classes('tabular whitespace-nowrap', className)}
    >
      {prefix ? `${prefix} ${relative}` : relative}
    </time>
  )
}
