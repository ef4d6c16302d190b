'use client'
import { useSyncExternalStore } from 'react'
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
  const exact = useSyncExternalStore(
    never,
    () => formatExact(ms, localZone()),
    () => formatExact(ms),
  )
  return (
    // The server's clock is a moment behind the browser's.
    <time
      suppressHydrationWarning
      dateTime={toDate(ms)?.toISOString()}
      title={exact}
      className={classes('tabular whitespace-nowrap', className)}
    >
      {prefix ? `${prefix} ${relative}` : relative}
    </time>
  )
}

const never = () => () => undefined
let zone: string | undefined
const localZone = () => {
  zone ??= Intl.DateTimeFormat().resolvedOptions().timeZone
  return zone
}
