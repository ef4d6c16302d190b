import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { type EventSource, EventTail, maxKept } from './event-tail.ts'

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
class Idle extends Error {}

/** A log in memory. `streams` says what each opening does, in turn; then they wait for ever. */
const logOf = (
  sequences: number[],
  streams: ((after: number | undefined) => AsyncIterable<AxonEvent>)[] = [],
  part: Partial<EventSource> = {},
) => {
  const opened: (number | undefined)[] = []
  const source: EventSource = {
    page: async (before = Number.POSITIVE_INFINITY) => {
      const older = sequences.filter((each) => each < before)
      return { events: older.slice(-3).reverse().map(event), has_more: older.length > 3 }
    },
    open: (after, signal, heard) => {
      opened.push(after)
      heard()
      return streams.shift()?.(after) ?? silence(signal)
    },
    hasEnded: async () => false,
    isLost: (error) => error instanceof Lost,
    isIdleEnd: (error) => error instanceof Idle,
    ...part,
  }
  return { source, opened }
}

async function* silence(signal: AbortSignal): AsyncGenerator<AxonEvent> {
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}
async function* say(sequences: number[], end?: Error): AsyncGenerator<AxonEvent> {
  for (const each of sequences) yield event(each)
  if (end) throw end
}

const leaving: AbortController[] = []
const follow = (source: EventSource) => {
  const tail = new EventTail(source)
  const controller = new AbortController()
  leaving.push(controller)
  const done = tail.follow(controller.signal)
  const shown = () => tail.getSnapshot().events.map(({ sequence }) => sequence)
  return { tail, done, shown, state: () => tail.getSnapshot().state }
}
afterEach(() => {
  for (const controller of leaving.splice(0)) controller.abort()
  vi.useRealTimers()
})

describe('EventTail', () => {
  it('begins with the newest page, says that there is more, and goes on after it', async () => {
    const { source, opened } = logOf([1, 2, 3, 4, 5], [() => say([6, 7], new Idle())])
    const { tail, shown, state } = follow(source)
    await vi.waitFor(() => expect(shown()).toEqual([3, 4, 5, 6, 7]))
    expect(tail.getSnapshot().hasOlder).toBe(true)
    await tail.loadOlder()
    expect(shown()).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(tail.getSnapshot().hasOlder).toBe(false)
    // An end for idleness is no loss, and what follows goes on where it was.
    await vi.waitFor(() => expect(opened).toEqual([5, 7]))
    expect(state()).toBe('live')
  })

  it('connects again after a break, after the last it has, and takes nothing twice', async () => {
    const { source, opened } = logOf([], [() => say([1, 2], new Error('cut')), () => say([2, 3], new Idle())])
    const { shown, state } = follow(source)
    await vi.waitFor(() => expect(state()).toBe('reconnecting'))
    await vi.waitFor(() => expect(shown()).toEqual([1, 2, 3]), { timeout: 5_000 })
    expect(opened.slice(0, 2)).toEqual([undefined, 2])
    expect(state()).toBe('live')
  })

  it('takes a stream that ends while the axon lives for a break', async () => {
    const { source } = logOf([], [() => say([1])])
    const { state } = follow(source)
    await vi.waitFor(() => expect(state()).toBe('reconnecting'))
  })

  it('ends with the axon, and is lost when asking again cannot help', async () => {
    const deleted = follow(logOf([1], [() => say([])], { hasEnded: async () => true }).source)
    await deleted.done
    expect([deleted.state(), deleted.shown()]).toEqual(['ended', [1]])
    const lost = follow(logOf([], [() => say([], new Lost('gone'))]).source)
    await lost.done
    expect(lost.tail.getSnapshot()).toMatchObject({ state: 'lost', lost: new Lost('gone') })
  })

  it('opens a stream anew that has been silent for too long', async () => {
    vi.useFakeTimers()
    const { source, opened } = logOf([1])
    const { state } = follow(source)
    await vi.advanceTimersByTimeAsync(39_000)
    expect(state()).toBe('live')
    await vi.advanceTimersByTimeAsync(1_100)
    expect(state()).toBe('reconnecting')
    await vi.advanceTimersByTimeAsync(1_000)
    expect([state(), opened]).toEqual(['live', [1, 1]])
  })

  it('fills a gap from the log', async () => {
    const { source } = logOf([1, 2, 3, 4], [() => say([8], new Idle())], {
      page: async (before) => ({ events: (before ? [7, 6, 5] : [4]).map(event), has_more: false }),
    })
    const { tail, shown } = follow(source)
    await vi.waitFor(() => expect(shown()).toEqual([4, 8]))
    await tail.fill(7)
    expect(shown()).toEqual([4, 5, 6, 7, 8])
  })

  it('keeps the newest of a flood and says how many it let go', async () => {
    const flood = Array.from({ length: maxKept * 1.2 }, (_, i) => i)
    const { source } = logOf([], [() => say(flood, new Idle())])
    const { tail, shown } = follow(source)
    await vi.waitFor(() => expect(shown().at(-1)).toBe(maxKept * 1.2 - 1))
    const { events, dropped, hasOlder } = tail.getSnapshot()
    expect(events.length).toBeLessThanOrEqual(maxKept * 1.1)
    expect(events.length + dropped).toBe(flood.length)
    expect(hasOlder).toBe(true)
  })

  it('stops without a word when nobody looks any more', async () => {
    const { source } = logOf([1])
    const { done, state } = follow(source)
    await vi.waitFor(() => expect(state()).toBe('live'))
    leaving[0]?.abort()
    await done
    expect(state()).toBe('live')
  })
})
