import { afterEach, describe, expect, it } from 'vitest'
import { type FollowOptions, initialHealth } from '#lib/browser/live/follow.ts'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { type EventSource, EventTail, maxEvents } from './event-tail.ts'

const event = (sequence: number): AxonEvent => ({
  axon_id: 'axn_1',
  sequence,
  timestamp_ms: 0,
  origin: 'USER_EVENT',
  source: 's',
  event_type: 't',
  payload: '{}',
})

class FinalError extends Error {}

type Stream = (options: FollowOptions<'axons.subscribe'>) => Promise<void>

/** An in-memory log. `streams` defines each connection in turn; later ones stay open. */
const logOf = (sequences: number[], streams: Stream[] = [], part: Partial<EventSource> = {}) => {
  const opened: (string | undefined)[] = []
  const source: EventSource = {
    page: async (before = Number.POSITIVE_INFINITY) => {
      const older = sequences.filter((each) => each < before)
      return { events: older.slice(-3).reverse().map(event), has_more: older.length > 3 }
    },
    follow: async (options) => {
      opened.push(options.position)
      options.onHealth?.({ ...initialHealth, state: 'live' })
      const stream = streams.shift()
      if (stream) return stream(options)
      await new Promise<void>((resolve) => options.signal.addEventListener('abort', () => resolve()))
    },
    hasEnded: async () => false,
    isFinal: (error) => error instanceof FinalError,
    ...part,
  }
  return { source, opened }
}

/** Sends these and then nothing until the reader aborts. */
const say =
  (...sequences: number[]): Stream =>
  ({ onItems, signal }) => {
    onItems(sequences.map(event), String(sequences.at(-1)))
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
  }

const leaving: AbortController[] = []
const follow = (source: EventSource) => {
  const tail = new EventTail(source)
  const controller = new AbortController()
  leaving.push(controller)
  const done = tail.follow(controller.signal)
  const shown = () => tail.getSnapshot().events.map(({ sequence }) => sequence)
  return { tail, done, shown }
}
afterEach(() => {
  for (const controller of leaving.splice(0)) controller.abort()
})

describe('EventTail', () => {
  it('loads the newest page and follows later events', async () => {
    const { source, opened } = logOf([1, 2, 3, 4, 5], [say(6, 7)])
    const { tail, shown } = follow(source)
    await expect.poll(() => shown()).toEqual([3, 4, 5, 6, 7])
    expect(tail.getSnapshot()).toMatchObject({ hasOlder: true, isLoading: false, health: { state: 'live' } })
    await tail.loadOlder()
    expect(shown()).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(tail.getSnapshot().hasOlder).toBe(false)
    expect(opened).toEqual(['5'])
  })

  it('retries the newest page during an outage', async () => {
    let isAway = true
    const { source } = logOf([], [say(1)], {
      page: async () => {
        if (isAway) throw new Error('away')
        return { events: [], has_more: false }
      },
    })
    const { tail, shown } = follow(source)
    await expect.poll(() => tail.getSnapshot()).toMatchObject({ isLoading: true, health: { state: 'lost' } })
    isAway = false
    await expect.poll(() => shown()).toEqual([1])
  })

  it('reconnects when the stream ends but the axon is not deleted', async () => {
    const { source, opened } = logOf([], [async ({ onItems }) => onItems([event(1)], '1'), say(2)])
    const { shown } = follow(source)
    await expect.poll(() => shown()).toEqual([1, 2])
    expect(opened).toEqual([undefined, '1'])
  })

  it('ends with the axon, or with a permanent error', async () => {
    const deleted = follow(logOf([1], [async () => undefined], { hasEnded: async () => true }).source)
    await deleted.done
    expect(deleted.tail.getSnapshot()).toMatchObject({ hasEnded: true, error: null })
    expect(deleted.shown()).toEqual([1])
    const failed = follow(logOf([], [() => Promise.reject(new FinalError('not found'))]).source)
    await failed.done
    expect(failed.tail.getSnapshot()).toMatchObject({ hasEnded: false, error: new FinalError('not found') })
  })

  it('fills a gap', async () => {
    const { source } = logOf([1, 2, 3, 4], [say(8)], {
      page: async (before) => ({ events: (before ? [7, 6, 5] : [4]).map(event), has_more: false }),
    })
    const { tail, shown } = follow(source)
    await expect.poll(() => shown()).toEqual([4, 8])
    await tail.fill(7)
    expect(shown()).toEqual([4, 5, 6, 7, 8])
  })

  it('keeps the newest events of a flood and counts the dropped ones', async () => {
    const flood = Array.from({ length: maxEvents * 1.2 }, (_, i) => i)
    const { source } = logOf([], [say(...flood)])
    const { tail, shown } = follow(source)
    await expect.poll(() => shown().at(-1)).toBe(maxEvents * 1.2 - 1)
    const { events, dropped, hasOlder } = tail.getSnapshot()
    expect(events.length).toBeLessThanOrEqual(maxEvents * 1.1)
    expect(events.length + dropped).toBe(flood.length)
    expect(hasOlder).toBe(true)
  })

  it('stops on abort and resumes where it was', async () => {
    const { source, opened } = logOf([1])
    const { tail, done } = follow(source)
    await expect.poll(() => opened).toEqual(['1'])
    leaving[0]?.abort()
    await done
    expect(tail.getSnapshot()).toMatchObject({ hasEnded: false, error: null })
    void tail.follow(AbortSignal.timeout(1))
    await expect.poll(() => opened).toEqual(['1', '1'])
  })
})
