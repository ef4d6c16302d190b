'use client'
import { useSyncExternalStore } from 'react'
import { serviceNow } from '#lib/client/clock.ts'

/** Reads the service's clock and renders again when `read(now)` changes. `atFirst` is the value on the server and during hydration. */
export const useClock = <T extends string | number | boolean | null>(read: (nowMs: number) => T, atFirst?: T): T => {
  const now = () => read(serviceNow())
  return useSyncExternalStore(eachQuarterSecond, now, atFirst === undefined ? now : () => atFirst)
}

const listeners = new Set<() => void>()
const tick = () => {
  for (const each of listeners) each()
}
let timer: ReturnType<typeof setInterval> | undefined

const eachQuarterSecond = (listener: () => void) => {
  listeners.add(listener)
  if (!timer) {
    timer = setInterval(tick, 250)
    // Timers of a hidden tab run about once a minute, so update when it becomes visible.
    document.addEventListener('visibilitychange', tick)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
    document.removeEventListener('visibilitychange', tick)
  }
}
