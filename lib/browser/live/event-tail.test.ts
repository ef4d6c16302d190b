import { afterEach, describe, expect, it } from 'vitest'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { type EventSource, EventTail, maxKept } from './event-tail.ts'
import { type FollowOptions, noHealth } from './follow.ts'

const event = (sequence: number): AxonEvent => ({
  axon_id: 'axn_1',
  sequence,
  timestamp_ms: 0,
  origin: 'USER_EVENT',
  source: 's',
  event_type: 't',
  payload: '{}',
})

class Lost extends Error {}

type Stream = (options: FollowOptions<'axons.subscribe'>) => Promise<void>

/** A log in memory. `streams` says what each following does, in turn; then they wait for ever. */
const logOf = (sequences: number[], streams: Stream[] = [], part: Partial<EventSource> = {}) => {
  const opened: (string | undefined)[] = []
  const source: EventSource = {
    page: async (before = Number.POSITIVE_INFINITY) => {
      const older = sequences.filter((each) => each < before)
      return { events: older.slice(-3).reverse().map(event), has_more: older.length > 3 }
    },
    follow: async (options) => {
      opened.push(options.position)
      options.onHealth?.({ ...noHealth, state: 'live' })
      const stream = streams.shift()
      if (stream) return stream(options)
      await new Promise<void>((resolve) => options.signal.addEventListener('abort', () => resolve()))
    },
    hasEnded: async () => false,
    isLost: (error) => error instanceof Lost,
    ...part,
  }
  return { source, opened }
}

/** Tells these, and then nothing until the reader leaves. */
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
  it('begins with the newest page, says that there is more, and goes on after it', async () => {
    const { source, opened } = logOf([1, 2, 3, 4, 5], [say(6, 7)])
    const { tail, shown } = follow(source)
    await expect.poll(() => shown()).toEqual([3, 4, 5, 6, 7])
    expect(tail.getSnapshot()).toMatchObject({ hasOlder: true, isLoading: false, health: { state: 'live' } })
    await tail.loadOlder()
    expect(shown()).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(tail.getSnapshot().hasOlder).toBe(false)
    expect(opened).toEqual(['5'])
  })

  it('asks again for the newest page while the service is away, and says that it is', async () => {
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

  it('follows on after a stream that ends while the axon lives', async () => {
    const { source, opened } = logOf([], [async ({ onItems }) => onItems([event(1)], '1'), say(2)])
    const { shown } = follow(source)
    await expect.poll(() => shown()).toEqual([1, 2])
    expect(opened).toEqual([undefined, '1'])
  })

  it('ends with the axon, and is lost when asking again cannot help', async () => {
    const deleted = follow(logOf([1], [async () => undefined], { hasEnded: async () => true }).source)
    await deleted.done
    expect(deleted.tail.getSnapshot()).toMatchObject({ hasEnded: true, lost: null })
    expect(deleted.shown()).toEqual([1])
    const lost = follow(logOf([], [() => Promise.reject(new Lost('gone'))]).source)
    await lost.done
    expect(lost.tail.getSnapshot()).toMatchObject({ hasEnded: false, lost: new Lost('gone') })
  })

  it('fills a gap from the log', async () => {
    const { source } = logOf([1, 2, 3, 4], [say(8)], {
      page: async (before) => ({ events: (before ? [7, 6, 5] : [4]).map(event), has_more: false }),
    })
    const { tail, shown } = follow(source)
    await expect.poll(() => shown()).toEqual([4, 8])
    await tail.fill(7)
    expect(shown()).toEqual([4, 5, 6, 7, 8])
  })

  it('keeps the newest of a flood and says how many it let go', async () => {
    const flood = Array.from({ length: maxKept * 1.2 }, (_, i) => i)
    const { source } = logOf([], [say(...flood)])
    const { tail, shown } = follow(source)
    await expect.poll(() => shown().at(-1)).toBe(maxKept * 1.2 - 1)
    const { events, dropped, hasOlder } = tail.getSnapshot()
    expect(events.length).toBeLessThanOrEqual(maxKept * 1.1)
    expect(events.length + dropped).toBe(flood.length)
    expect(hasOlder).toBe(true)
  })

  it('stops without a word when nobody looks any more, and goes on where it was when somebody does', async () => {
    const { source, opened } = logOf([1])
    const { tail, done } = follow(source)
    await expect.poll(() => opened).toEqual(['1'])
    leaving[0]?.abort()
    await done
    expect(tail.getSnapshot()).toMatchObject({ hasEnded: false, lost: null })
    void tail.follow(AbortSignal.timeout(1))
    await expect.poll(() => opened).toEqual(['1', '1'])
  })
})
