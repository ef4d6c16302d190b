import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { WatchHealth } from './watch-health.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000 }))
afterEach(() => void vi.useRealTimers())

it('dates an outage from the first request or the loss, whatever state follows', () => {
  const watch = new WatchHealth()
  const set = (state: Parameters<WatchHealth['setState']>[0]) => {
    vi.advanceTimersByTime(50_000)
    watch.setState(state)
    return watch.lostMs
  }
  expect([set('retrying'), set('refused'), set('live')]).toEqual([1_000, 1_000, undefined])
  expect([set('retrying'), set('refused')]).toEqual([201_000, 201_000])
})
