'use client'
import { useClock } from '#components/ui/use-clock.ts'
import { formatDurationMs } from '#lib/console/frame/format.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'

/** From creation to the end, or until now. */
export const Lifetime = ({ devbox: { create_time_ms, end_time_ms } }: { devbox: Devbox }) => {
  const text = useClock((nowMs) => {
    const ms = Math.max(0, (end_time_ms ?? nowMs) - create_time_ms)
    // Seconds that tick in every row would only distract.
    return end_time_ms === null && ms < 60_000
      ? '< 1 min'
      : formatDurationMs(end_time_ms === null ? wholeMinutes(ms) : ms)
  })
  return <span suppressHydrationWarning>{text}</span>
}

const wholeMinutes = (ms: number) => Math.floor(ms / 60_000) * 60_000
