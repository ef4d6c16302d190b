import { parseEvents } from '#lib/client/events.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import type { RelayData, RelayEvent, RelayUpstream } from '#lib/wire/relay.ts'

/**
 * The browser's view of pending evictions: a pure state, the events that change it, and the connection that feeds it.
 * The connection knows neither React nor the query cache, so a shared worker can hold it for all tabs one day.
 */

/** What the relay sends, and the browser's own two words about its connection to it. */
export type FeedEvent = RelayEvent | { event: 'connected' } | { event: 'lost' }

export interface EvictionFeed {
  /** One per devbox, the earliest deadline first. */
  pending: readonly Eviction[]
  /** Null until the first snapshot of this page. */
  upstream: RelayUpstream | null
  connection: 'connecting' | 'open' | 'lost'
  /** Since when `connection` is what it is; this browser's clock. */
  connectionSinceMs: number
  /** When anything last arrived; this browser's clock. */
  lastHeardMs: number
  /** The console's clock minus this browser's. Deadlines are told in the former. */
  clockOffsetMs: number
}

/** Two and a half heartbeats of 15 s: after that, silence means the stream is dead, whatever the socket says. */
export const staleAfterMs = 40_000

/** Below this, a change of the measured offset is the network's jitter, and following it would make countdowns jump. */
const offsetJitterMs = 750

export const emptyFeed: EvictionFeed = {
  pending: [],
  upstream: null,
  connection: 'connecting',
  connectionSinceMs: 0,
  lastHeardMs: 0,
  clockOffsetMs: 0,
}

export const nextFeed = (feed: EvictionFeed, happened: FeedEvent, nowMs: number): EvictionFeed => {
  const heard = { ...feed, lastHeardMs: nowMs }
  switch (happened.event) {
    case 'connected':
      return { ...heard, connection: 'open', connectionSinceMs: nowMs }
    case 'lost':
      // What was pending stays: a deadline does not go away because the messenger did.
      return feed.connection === 'lost' ? feed : { ...feed, connection: 'lost', connectionSinceMs: nowMs }
    case 'snapshot':
      return { ...heard, upstream: happened.data.upstream, pending: byDeadline(happened.data.evictions) }
    case 'eviction':
      return { ...heard, pending: byDeadline([...feed.pending, happened.data]) }
    case 'removed':
      return { ...heard, pending: feed.pending.filter(({ devbox_id }) => devbox_id !== happened.data.devbox_id) }
    case 'upstream':
      return { ...heard, upstream: happened.data }
    case 'heartbeat': {
      const offset = happened.data.now_ms - nowMs
      const moved = Math.abs(offset - feed.clockOffsetMs) > offsetJitterMs
      return { ...heard, clockOffsetMs: moved ? offset : feed.clockOffsetMs }
    }
  }
}

/** The later of two entries about one devbox wins. */
const byDeadline = (evictions: readonly Eviction[]): Eviction[] =>
  [...new Map(evictions.map((eviction) => [eviction.devbox_id, eviction])).values()].sort(
    (a, b) => a.eviction_deadline_ms - b.eviction_deadline_ms || (a.devbox_id < b.devbox_id ? -1 : 1),
  )

/** Two announcements are one when both the devbox and the deadline agree; a moved deadline is news. */
export const evictionIdentity = ({ devbox_id, eviction_deadline_ms }: Eviction) =>
  `${devbox_id}@${eviction_deadline_ms}`

export const evictionOf = (feed: EvictionFeed, devboxId: string): Eviction | undefined =>
  feed.pending.find(({ devbox_id }) => devbox_id === devboxId)

/** Milliseconds left until the deadline, never below zero. */
export const remainingMs = (feed: EvictionFeed, eviction: Eviction, nowMs: number): number =>
  Math.max(0, eviction.eviction_deadline_ms - (nowMs + feed.clockOffsetMs))

/** How long past its deadline an eviction still counts, as "now". */
const lingerMs = 3_000

/** Those that are still ahead or just happening: a service may go on reporting one for a while after its deadline. */
export const currentEvictions = (feed: EvictionFeed, nowMs: number): Eviction[] =>
  feed.pending.filter(({ eviction_deadline_ms }) => nowMs + feed.clockOffsetMs < eviction_deadline_ms + lingerMs)

/** `04:12`, `1:04:12`; rounded up, so that 00:00 is only shown once the time is over. */
export const formatCountdown = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const clock = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return seconds >= 3600 ? `${Math.floor(seconds / 3600)}:${clock}` : clock
}

export type FeedHealth =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'reconnecting' | 'stale' | 'refused'; sinceMs: number }

/** How far the feed can be trusted right now. Times are of this browser's clock. */
export const feedHealth = (feed: EvictionFeed, nowMs: number): FeedHealth => {
  if (feed.connection === 'lost') return { state: 'reconnecting', sinceMs: feed.connectionSinceMs }
  if (feed.connection === 'connecting' || feed.upstream === null) return { state: 'connecting' }
  if (nowMs - feed.lastHeardMs > staleAfterMs) return { state: 'stale', sinceMs: feed.lastHeardMs }
  const sinceMs = feed.upstream.since_ms - feed.clockOffsetMs
  if (feed.upstream.state === 'refused') return { state: 'refused', sinceMs }
  if (feed.upstream.state === 'retrying') return { state: 'reconnecting', sinceMs }
  return { state: 'live' }
}

export interface FeedConnection {
  /** Connects at once when the stream is down or silent; otherwise does nothing. */
  check(): void
  close(): void
}

interface ConnectOptions {
  url: string
  onEvent(event: FeedEvent): void
  /** The session is over; nothing is asked for any more. */
  onSignedOut(): void
}

const relayEvents: readonly string[] = [
  'snapshot',
  'eviction',
  'removed',
  'upstream',
  'heartbeat',
] satisfies (keyof RelayData)[]
const backoffMs = (attempt: number) => Math.min(15_000, 500 * 2 ** attempt) * (0.8 + Math.random() * 0.4)

/**
 * Keeps one stream open until closed; after each `connected` a snapshot follows. Reads the stream by fetch because
 * EventSource gives up for good on any answer that is no stream, and notices no connection that died without a word.
 */
export const connectFeed = ({ url, onEvent, onSignedOut }: ConnectOptions): FeedConnection => {
  let attempt = 0
  let heardMs = Date.now()
  let retry: ReturnType<typeof setTimeout> | undefined
  let current: AbortController | undefined

  const read = async (signal: AbortSignal) => {
    const response = await fetch(url, { headers: { accept: 'text/event-stream' }, cache: 'no-store', signal })
    if (response.status === 401) {
      close()
      return onSignedOut()
    }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    if (!response.ok || !isStream || !response.body) throw new Error(`The eviction stream answered ${response.status}`)
    attempt = 0
    heardMs = Date.now()
    onEvent({ event: 'connected' })
    for await (const { event, data } of parseEvents(response.body)) {
      if (signal.aborted) return
      heardMs = Date.now()
      if (relayEvents.includes(event)) onEvent({ event, data: JSON.parse(data) } as RelayEvent)
    }
  }

  const open = () => {
    clearTimeout(retry)
    retry = undefined
    current?.abort()
    const controller = new AbortController()
    current = controller
    heardMs = Date.now()
    read(controller.signal)
      // However it ended, what is shown is what follows: the connection is lost and is opened again.
      .catch(() => undefined)
      .then(() => {
        if (controller !== current) return
        onEvent({ event: 'lost' })
        retry = setTimeout(open, backoffMs(attempt++))
      })
  }

  const isSilent = () => Date.now() - heardMs > staleAfterMs
  // A connection that died without a word (a laptop that slept, a dropped route) never ends by itself.
  const watchdog = setInterval(() => {
    if (!retry && isSilent()) open()
  }, staleAfterMs / 4)

  const close = () => {
    clearTimeout(retry)
    clearInterval(watchdog)
    const ending = current
    current = undefined
    ending?.abort()
  }

  open()
  return {
    check() {
      if (current && (retry || isSilent())) open()
    },
    close,
  }
}
