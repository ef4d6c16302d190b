import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { clockOffsetMs, restartClock, serviceNow, syncClock, toLocalTime, toServiceTime } from './clock.ts'

const minute = 60_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1_000_000 })
  restartClock()
  syncClock(Date.now())
  restartClock()
})
afterEach(() => {
  vi.useRealTimers()
  restartClock()
  syncClock(Date.now())
})

const read = (offsetMs: number, { tookMs = 0 } = {}) => {
  const sentMs = performance.now()
  vi.advanceTimersByTime(tookMs)
  syncClock(Date.now() - tookMs / 2 + offsetMs, sentMs, performance.now())
}

it.each([10 * minute, -10 * minute])('follows a service whose clock is %d ms ahead', (offsetMs) => {
  read(offsetMs, { tookMs: 900 })
  expect(serviceNow()).toBe(Date.now() + offsetMs)
  expect(toLocalTime(toServiceTime(5))).toBe(5)
  // Handled late, such as a page's own time once its scripts have loaded.
  restartClock()
  const [serviceMs, sentMs] = [serviceNow(), performance.now()]
  vi.advanceTimersByTime(4_000)
  syncClock(serviceMs, sentMs)
  expect(clockOffsetMs()).toBe(offsetMs)
})

it('ignores one late message, slow responses and jitter', () => {
  for (const ms of [0, 10, -10]) read(minute + ms)
  read(minute - 9_000)
  read(minute + 5_000, { tookMs: 1_001 })
  read(minute + 240)
  expect(clockOffsetMs()).toBe(minute)
})

it('adopts a clock that was set within three readings, and at once after a new connection', () => {
  for (let each = 0; each < 5; each++) read(0)
  read(2 * minute)
  read(2 * minute)
  expect(clockOffsetMs()).toBe(0)
  read(2 * minute)
  expect(clockOffsetMs()).toBe(2 * minute)
  restartClock()
  read(-minute)
  expect(clockOffsetMs()).toBe(-minute)
})
