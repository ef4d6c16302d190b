import { expect, it } from 'vitest'
import { backoffMs, pause } from './backoff.ts'

it('doubles the wait with each attempt up to the maximum, with 50% jitter', () => {
  const times = { firstMs: 250, maxMs: 5_000 }
  const waits = (random: number) => [0, 1, 2, 5, 1000].map((attempt) => backoffMs(attempt, times, () => random))
  expect(waits(0.5)).toEqual([250, 500, 1000, 5_000, 5_000])
  expect(waits(0)).toEqual([125, 250, 500, 2_500, 2_500])
})

it('ends a pause when its signal aborts or already is aborted', async () => {
  const leaving = new AbortController()
  const paused = pause(1_000_000, leaving.signal)
  leaving.abort()
  await paused
  await pause(1_000_000, leaving.signal)
})
