'use client'
import { useSyncExternalStore } from 'react'

/**
 * What `read` makes of the time, kept up to date; the component renders again only when that changes, so `read` should
 * answer text, a number or a boolean. Four looks a second keep a countdown from skipping one.
 * `atFirst` stands for it on the server and while the page takes over what the server drew.
 */
export const useClock = <T extends string | number | boolean | null>(read: (nowMs: number) => T, atFirst?: T): T => {
  const now = () => read(Date.now())
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
    // The timers of a hidden tab run once a minute: it is right when it is looked at again.
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
