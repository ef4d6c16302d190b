import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Latency, TerminalPulse } from './pulse.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const startPulse = () => {
  const seen = { asked: [] as number[], latency: undefined as Latency | undefined, deaths: 0, isVisible: true }
  const pulse = new TerminalPulse({
    send: (id) => seen.asked.push(id),
    measured: (latency) => {
      seen.latency = latency
    },
    died: () => {
      seen.deaths++
      pulse.stop()
    },
    isVisible: () => seen.isVisible,
  })
  pulse.start()
  vi.advanceTimersByTime(1_000)
  const answerAfter = (ms: number, serviceMs: number | null) => {
    vi.advanceTimersByTime(ms)
    pulse.heard()
    pulse.answered(seen.asked.at(-1) ?? 0, serviceMs)
  }
  return { pulse, seen, answerAfter }
}

it('pings soon and then every five seconds, and reports the median of five', () => {
  const { seen, answerAfter } = startPulse()
  expect(seen.asked).toEqual([1])
  answerAfter(900, null)
  expect(seen.latency).toMatchObject({ consoleMs: 900, serviceMs: null })
  for (const [ms, serviceMs] of [
    [10, 2],
    [20, 4],
    [30, 3],
    [40, 5],
    [50, 1],
  ] as const) {
    const { length } = seen.asked
    while (seen.asked.length === length) vi.advanceTimersByTime(10)
    answerAfter(ms, serviceMs)
  }
  expect(seen.latency).toMatchObject({ consoleMs: 30, serviceMs: 3 })
})

it('declares a connection dead ten seconds after an unanswered ping', () => {
  const { seen } = startPulse()
  vi.advanceTimersByTime(9_999)
  expect(seen.deaths).toBe(0)
  vi.advanceTimersByTime(1)
  expect(seen.deaths).toBe(1)
})

it('accepts output as a sign of life', () => {
  const { pulse, seen, answerAfter } = startPulse()
  for (let second = 0; second < 60; second++) {
    vi.advanceTimersByTime(1_000)
    pulse.heard()
  }
  expect(seen.deaths).toBe(0)
  answerAfter(0, null)
  expect(seen.latency?.consoleMs).toBe(60_000)
})
