import { expect, it } from 'vitest'
import { WatchHealth } from './watch-health.ts'

it('is away without listeners, even if the stream is open', () => {
  const watch = new WatchHealth()
  const upstream = { state: 'live', since_ms: 1_000, attempt: 0 } as const
  expect(watch.setState(upstream)).toBe(true)
  watch.leave()
  const { state, since_ms: leftMs } = watch.health
  expect(state).toBe('connecting')
  expect(watch.setState(upstream)).toBe(true)
  const { since_ms: backMs, reconnects, gaps } = watch.health
  expect(backMs).toBeGreaterThanOrEqual(leftMs)
  expect({ reconnects, gaps }).toEqual({ reconnects: 1, gaps: [{ from_ms: leftMs, to_ms: backMs }] })
})

it('has been away since the service was lost', () => {
  const watch = new WatchHealth()
  watch.setState({ state: 'live', since_ms: 1_000, attempt: 0 })
  watch.setState({ state: 'retrying', since_ms: 2_000, attempt: 1 })
  watch.leave()
  watch.setState({ state: 'live', since_ms: 3_000, attempt: 0 })
  expect(watch.health.gaps).toMatchObject([{ from_ms: 2_000 }])
})

it('has one gap from the loss of the service until it is back, however it failed meanwhile', () => {
  const watch = new WatchHealth()
  watch.setState({ state: 'live', since_ms: 1_000, attempt: 0 })
  watch.setState({ state: 'retrying', since_ms: 2_000, attempt: 1 })
  watch.setState({ state: 'refused', since_ms: 3_000, attempt: 2 })
  watch.setState({ state: 'retrying', since_ms: 4_000, attempt: 3 })
  watch.setState({ state: 'live', since_ms: 5_000, attempt: 0 })
  expect(watch.health.gaps).toEqual([{ from_ms: 2_000, to_ms: 5_000 }])
})
