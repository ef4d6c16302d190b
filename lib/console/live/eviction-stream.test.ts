import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { RelayUpstream } from '#lib/wire/relay.ts'
import {
  connectFeed,
  currentEvictions,
  emptyFeed,
  evictionIdentity,
  type FeedEvent,
  feedHealth,
  formatCountdown,
  nextFeed,
  remainingMs,
  staleAfterMs,
} from './eviction-stream.ts'

const live: RelayUpstream = { state: 'live', since_ms: 1000, attempt: 0 }
const eviction = (devbox_id: string, eviction_deadline_ms: number) => ({ devbox_id, eviction_deadline_ms })
const feedAfter = (...events: FeedEvent[]) => events.reduce((feed, event) => nextFeed(feed, event, 1000), emptyFeed)
const opened = (...evictions: ReturnType<typeof eviction>[]): FeedEvent[] => [
  { event: 'connected' },
  { event: 'snapshot', data: { evictions, upstream: live } },
]

describe('what is pending', () => {
  it('is ordered by deadline', () => {
    const feed = feedAfter(...opened(eviction('dbx_b', 9000), eviction('dbx_a', 5000)), {
      event: 'eviction',
      data: eviction('dbx_c', 7000),
    })
    expect(feed.pending.map(({ devbox_id }) => devbox_id)).toEqual(['dbx_a', 'dbx_c', 'dbx_b'])
  })

  it('holds a devbox once, with its latest deadline', () => {
    const feed = feedAfter(...opened(eviction('dbx_a', 5000)), { event: 'eviction', data: eviction('dbx_a', 8000) })
    expect(feed.pending).toEqual([eviction('dbx_a', 8000)])
  })

  it('forgets a devbox that is removed, and nothing else', () => {
    const feed = feedAfter(...opened(eviction('dbx_a', 5000), eviction('dbx_b', 6000)), {
      event: 'removed',
      data: { devbox_id: 'dbx_a' },
    })
    expect(feed.pending).toEqual([eviction('dbx_b', 6000)])
  })

  it('survives a lost connection and is replaced by the next snapshot', () => {
    const lost = feedAfter(...opened(eviction('dbx_a', 5000)), { event: 'lost' })
    expect(lost.pending).toEqual([eviction('dbx_a', 5000)])
    expect(opened(eviction('dbx_b', 6000)).reduce((feed, event) => nextFeed(feed, event, 2000), lost).pending).toEqual([
      eviction('dbx_b', 6000),
    ])
  })

  it('is news again when the deadline has moved, but not when it is told again', () => {
    expect(evictionIdentity(eviction('dbx_a', 5000))).toBe(evictionIdentity(eviction('dbx_a', 5000)))
    expect(evictionIdentity(eviction('dbx_a', 5000))).not.toBe(evictionIdentity(eviction('dbx_a', 5001)))
  })
})

describe('what is current', () => {
  it('is what lies ahead, and for a moment what has just come due', () => {
    const feed = feedAfter(...opened(eviction('dbx_a', 5000), eviction('dbx_b', 90_000)))
    const ids = (nowMs: number) => currentEvictions(feed, nowMs).map(({ devbox_id }) => devbox_id)
    expect(ids(7999)).toEqual(['dbx_a', 'dbx_b'])
    expect(ids(8000)).toEqual(['dbx_b'])
  })
})

describe('the countdown', () => {
  it('follows the clock of the server, not the one of the page', () => {
    const feed = nextFeed(
      feedAfter(...opened(eviction('dbx_a', 70_000))),
      { event: 'heartbeat', data: { now_ms: 61_000 } },
      1000,
    )
    expect(remainingMs(feed, eviction('dbx_a', 70_000), 1000)).toBe(9000)
  })

  it('does not follow the jitter of single heartbeats', () => {
    const feed = nextFeed(feedAfter(...opened()), { event: 'heartbeat', data: { now_ms: 1300 } }, 1000)
    expect(feed.clockOffsetMs).toBe(0)
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

describe('the health of the feed', () => {
  it('is connecting until the first snapshot, then live', () => {
    expect(feedHealth(feedAfter({ event: 'connected' }), 1000).state).toBe('connecting')
    expect(feedHealth(feedAfter(...opened()), 1000)).toEqual({ state: 'live' })
  })

  it('is stale once nothing was heard for 40 s, and live again with the next heartbeat', () => {
    const feed = feedAfter(...opened())
    const later = 1000 + staleAfterMs + 1
    expect(feedHealth(feed, later)).toEqual({ state: 'stale', sinceMs: 1000 })
    expect(feedHealth(nextFeed(feed, { event: 'heartbeat', data: { now_ms: later } }, later), later)).toEqual({
      state: 'live',
    })
  })

  it('tells a lost connection and an upstream that is gone since when they are', () => {
    const lost = nextFeed(feedAfter(...opened()), { event: 'lost' }, 5000)
    expect(feedHealth(nextFeed(lost, { event: 'lost' }, 9000), 9000)).toEqual({ state: 'reconnecting', sinceMs: 5000 })
    const retrying = feedAfter(...opened(), {
      event: 'upstream',
      data: { state: 'retrying', since_ms: 900, attempt: 2 },
    })
    expect(feedHealth(retrying, 1000)).toEqual({ state: 'reconnecting', sinceMs: 900 })
    const refused = feedAfter(...opened(), { event: 'upstream', data: { state: 'refused', since_ms: 900, attempt: 1 } })
    expect(feedHealth(refused, 1000)).toEqual({ state: 'refused', sinceMs: 900 })
  })
})

describe('the connection', () => {
  const ends: (() => void)[] = []
  afterEach(() => {
    for (const end of ends.splice(0)) end()
  })

  /** A relay of one's own: `answer` gets each connection with its number, from 1. */
  const relay = async (answer: (response: ServerResponse, connection: number) => void) => {
    let connections = 0
    const server = createServer((_request, response) => answer(response, ++connections)).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const seen: (FeedEvent | { event: 'signed out' })[] = []
    let wake = () => {}
    const note = (event: (typeof seen)[number]) => {
      seen.push(event)
      wake()
    }
    const connection = connectFeed({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      onEvent: note,
      onSignedOut: () => note({ event: 'signed out' }),
    })
    ends.push(() => {
      connection.close()
      server.closeAllConnections()
      server.close()
    })
    const until = async (event: (typeof seen)[number]['event'], times = 1) => {
      while (seen.filter((each) => each.event === event).length < times)
        await new Promise<void>((resolve) => (wake = resolve))
    }
    return { seen, until }
  }
  const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (response: ServerResponse, event: string, data: unknown) =>
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

  it('passes on what the relay sends, in order, and skips words it does not know', async () => {
    const { seen, until } = await relay((response) => {
      stream(response)
      send(response, 'snapshot', { evictions: [], upstream: live })
      send(response, 'weather', { sunny: true })
      send(response, 'eviction', eviction('dbx_a', 5000))
    })
    await until('eviction')
    expect(seen.map(({ event }) => event)).toEqual(['connected', 'snapshot', 'eviction'])
  })

  it('connects again after the stream was cut', async () => {
    const { seen, until } = await relay((response, connection) => {
      stream(response)
      send(response, 'snapshot', { evictions: [eviction('dbx_a', connection)], upstream: live })
      if (connection === 1) response.end()
    })
    await until('snapshot', 2)
    expect(seen.map(({ event }) => event)).toEqual(['connected', 'snapshot', 'lost', 'connected', 'snapshot'])
  })

  it('does not give up on an answer that is no stream', async () => {
    const { seen, until } = await relay((response, connection) => {
      if (connection === 1) return response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
      stream(response)
      return send(response, 'snapshot', { evictions: [], upstream: live })
    })
    await until('snapshot')
    expect(seen.map(({ event }) => event)).toEqual(['lost', 'connected', 'snapshot'])
  })

  it('stops for good once the session is over', async () => {
    const { seen, until } = await relay((response) => {
      response.writeHead(401).end()
    })
    await until('signed out')
    expect(seen).toEqual([{ event: 'signed out' }])
  })
})
