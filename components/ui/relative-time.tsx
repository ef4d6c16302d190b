'use client'
import { useSyncExternalStore } from 'react'
import { classes } from './classes.ts'
import { formatExact, formatRelative, shownZone, toDate } from './time-text.ts'
import { useClock } from './use-clock.ts'

export interface RelativeTimeProps {
  /** Epoch milliseconds; null where the time is unknown. */
  ms: number | null
  prefix?: string
  className?: string
}

export const RelativeTime = ({ ms, prefix, className }: RelativeTimeProps) => {
  const zone = useShownZone()
  const relative = useClock((nowMs) => (ms === null ? '' : formatRelative(ms, nowMs, zone)))
  if (ms === null) return <span className={classes('text-muted', className)}>Unknown</span>
  return (
    // The server's clock is a moment behind the browser's.
    <time
      suppressHydrationWarning
      dateTime={toDate(ms)?.toISOString()}
      // Written when it is looked at: in the reader's zone, which the server does not know.
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = formatExact(ms)
      }}
      className={classes('tabular whitespace-nowrap', className)}
    >
      {prefix ? `${prefix} ${relative}` : relative}
    </time>
  )
}

/** Where times are told; UTC as the server draws it at first, which does not know the zone. */
export const useShownZone = (): string => useSyncExternalStore(never, shownZone, () => 'UTC')

const never = () => () => undefined
