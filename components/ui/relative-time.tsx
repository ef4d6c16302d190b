'use client'
import { useSyncExternalStore } from 'react'
import { classes } from './classes.ts'
import { formatExact, formatRelative, toDate } from './time-text.ts'

export interface RelativeTimeProps {
  /** Epoch milliseconds. */
  ms: number
  prefix?: string
  className?: string
}

export const RelativeTime = ({ ms, prefix, className }: RelativeTimeProps) => {
  const text = () => formatRelative(ms, Date.now())
  const relative = useSyncExternalStore(eachSecond, text, text)
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

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
/** One clock for every time on the page. A component renders again only when its words change. */
const eachSecond = (listener: () => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const each of listeners) each()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
