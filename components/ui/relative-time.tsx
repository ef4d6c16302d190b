'use client'
import { useSyncExternalStore } from 'react'
import { classes } from './classes.ts'
import { formatExact, formatRelative, shownZone, toDate } from './time-text.ts'
import { useClock } from './use-clock.ts'

export interface RelativeTimeProps {
  ms: number | null
  prefix?: string
  className?: string
}

export const RelativeTime = ({ ms, prefix, className }: RelativeTimeProps) => {
  const zone = useShownZone()
  const relative = useClock((nowMs) => (ms === null ? '' : formatRelative(ms, nowMs, zone)))
  if (ms === null) return <span className={classes('text-muted', className)}>Unknown</span>
  return (
    // The server rendered a moment earlier.
    <time
      suppressHydrationWarning
      dateTime={toDate(ms)?.toISOString()}
      // On hover: the server doesn't know the reader's time zone.
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = formatExact(ms)
      }}
      className={classes('tabular whitespace-nowrap', className)}
    >
      {prefix ? `${prefix} ${relative}` : relative}
    </time>
  )
}

/** UTC until hydration, as the server doesn't know the zone. */
export const useShownZone = (): string => useSyncExternalStore(never, shownZone, () => 'UTC')

const never = () => () => undefined
