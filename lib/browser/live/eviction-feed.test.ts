import { describe, expect, it } from 'vitest'
import type { LiveItems } from '#lib/protocol/live.ts'
import { currentEvictions, emptyFeed, formatCountdown, nextFeed, remainingMs } from './eviction-feed.ts'

const eviction = (devbox_id: string, eviction_deadline_ms: number) => ({ devbox_id, eviction_deadline_ms })
const feedAfter = (...items: LiveItems['evictions.watch'][]) => nextFeed(emptyFeed, items)
const snapshot = (...evictions: ReturnType<typeof eviction>[]): LiveItems['evictions.watch'] => ({
  event: 'snapshot',
  data: { evictions, upstream: { state: 'live', since_ms: 1000, attempt: 0 } },
})

describe('what is pending', () => {
  it('is ordered by deadline', () => {
    const feed = feedAfter(snapshot(eviction('dbx_b', 9000), eviction('dbx_a', 5000)), {
      event: 'eviction',
      data: eviction('dbx_c', 7000),
    })
    expect(feed.pending.map(({ devbox_id }) => devbox_id)).toEqual(['dbx_a', 'dbx_c', 'dbx_b'])
  })

  it('holds a devbox once, with its latest deadline', () => {
    const feed = feedAfter(snapshot(eviction('dbx_a', 5000)), { event: 'eviction', data: eviction('dbx_a', 8000) })
    expect(feed.pending).toEqual([eviction('dbx_a', 8000)])
  })

  it('forgets a devbox that is removed, and nothing else', () => {
    const feed = feedAfter(snapshot(eviction('dbx_a', 5000), eviction('dbx_b', 6000)), {
      event: 'removed',
      data: { devbox_id: 'dbx_a' },
    })
    expect(feed.pending).toEqual([eviction('dbx_b', 6000)])
  })

  it('is replaced by the next snapshot', () => {
    const feed = feedAfter(snapshot(eviction('dbx_a', 5000)), snapshot(eviction('dbx_b', 6000)))
    expect(feed.pending).toEqual([eviction('dbx_b', 6000)])
  })
})

describe('what is current', () => {
  it('is what lies ahead, and for a moment what has just come due', () => {
    const feed = feedAfter(snapshot(eviction('dbx_a', 5000), eviction('dbx_b', 90_000)))
    const ids = (nowMs: number) => currentEvictions(feed, nowMs).map(({ devbox_id }) => devbox_id)
    expect(ids(7999)).toEqual(['dbx_a', 'dbx_b'])
    expect(ids(8000)).toEqual(['dbx_b'])
  })
})

describe('the countdown', () => {
  it('follows the clock of the server, not the one of the page', () => {
    const feed = { ...emptyFeed, health: { ...emptyFeed.health, clockOffsetMs: 60_000 } }
    expect(remainingMs(feed, eviction('dbx_a', 70_000), 1000)).toBe(9000)
  })

  it('never goes below zero and shows it only when the time is over', () => {
    expect(remainingMs(emptyFeed, eviction('dbx_a', 500), 1000)).toBe(0)
    expect([0, 1, 59_000, 252_000, 3_852_000].map(formatCountdown)).toEqual([
      '00:00',
      '00:01',
      '00:59',
      '04:12',
      '1:04:12',
    ])
  })
})
