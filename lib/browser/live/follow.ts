import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { ApiError } from '#lib/client/api-error.ts'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import { restartClock, serviceNow, syncClock } from '#lib/client/clock.ts'
import {
  type LiveEndpoint,
  type LiveError,
  type LiveItems,
  type LiveNotice,
  type LiveRequest,
  type LiveSnapshot,
  type LiveState,
  type LiveTopic,
  liveClose,
} from '#lib/protocol/live.ts'
import { AckCounter } from '#lib/terminal/page/ack-counter.ts'
import { fetchConsoleJson, redirectToSignIn } from '../api/console-api.ts'
import { isSignedOut, withAccount } from '../api/page-account.ts'

/** How current the followed data is. `polled`: there is no connection, and a plain request succeeded at `sinceMs`. */
export interface LiveHealth {
  state: 'connecting' | LiveState | 'polled'
  sinceMs: number
  /** When the console was last reached, while neither a connection nor a request succeeds. */
  unreachableMs?: number
  error?: ApiError
}

export const initialHealth: LiveHealth = { state: 'connecting', sinceMs: 0 }

export interface FollowOptions<E extends LiveEndpoint> {
  position?: string | undefined
  signal: AbortSignal
  onItems(items: LiveItems[E][], position: string): void
  /** Drop everything after `position`; the next items replace it. */
  onResync?(position: string): void
  onHealth?(health: LiveHealth): void
  /** Called repeatedly while there is no connection but the console answers plain requests. */
  onPoll?(): void
}

/** Follows a topic without gaps or duplicates until it ends or `signal` aborts; rejects when a retry cannot help. */
export const follow = <E extends LiveEndpoint>(topic: LiveTopic<E>, options: FollowOptions<E>): Promise<void> => {
  connection ??= connectPage()
  return connection.follow(topic, options)
}

let connection: LiveConnection | undefined

const connectPage = (): LiveConnection => {
  const created = new LiveConnection({
    url: () => withAccount(`${location.origin.replace(/^http/, 'ws')}/api/live`),
    poll: (signal) => fetchConsoleJson<LiveSnapshot>('/api/live/now', signal),
    isSignedOut,
    onSignedOut: () => void redirectToSignIn(),
  })
  window.addEventListener('online', () => created.check())
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && created.check())
  return created
}

const liveTimes = {
  /** Silence after which the connection counts as late: two heartbeats and a margin. */
  lateMs: 7_000,
  lostMs: 20_000,
  checkMs: 1_000,
  firstMs: 250,
  maxMs: 10_000,
  /** Without a connection for this long, the page polls: a proxy may block WebSockets. */
  pollAfterMs: 8_000,
  pollMs: 5_000,
  /** The connection stays open for the followers of the next page. */
  lingerMs: 5_000,
}

/** Every 64 KiB is acknowledged at once and the rest after this delay, so that small messages don't each cause a reply. */
const liveAckMs = 1_000

interface ConnectionOptions {
  url(): string
  poll(signal: AbortSignal): Promise<LiveSnapshot>
  /** Called when a connection fails to open, since browsers don't report why. */
  isSignedOut(): Promise<boolean>
  onSignedOut(): void
  WebSocket?: typeof globalThis.WebSocket
  times?: Partial<typeof liveTimes>
}

type PolledTopic = LiveSnapshot['topics'][keyof LiveSnapshot['topics']]

interface Follower {
  id: number
  topic: LiveTopic
  position: string | undefined
  options: FollowOptions<LiveEndpoint>
  own: Pick<LiveHealth, 'state' | 'sinceMs' | 'error'> | undefined
  settle(error?: ApiError): void
}

export class LiveConnection {
  readonly #options: ConnectionOptions
  readonly #times: typeof liveTimes
  readonly #followers = new Map<number, Follower>()
  #lastId = 0
  #socket: WebSocket | undefined
  #acks: AckCounter | undefined
  #state: LiveHealth['state'] = 'connecting'
  #sinceMs = serviceNow()
  /** When a message last arrived on this socket, or when it was opened. */
  #socketHeardMs = 0
  /** When a message last arrived on any socket. */
  #lastHeardMs = 0
  /** When the console was last heard or polled. */
  #reachedMs = 0
  /** Start of the wait before polling. */
  #waitingMs = 0
  #polling: AbortController | undefined
  /** The last polled state; undefined while connected. */
  #polled: { atMs: number; topics: Partial<Record<LiveEndpoint, PolledTopic>> } | undefined
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #checking: ReturnType<typeof setInterval> | undefined
  #linger: ReturnType<typeof setTimeout> | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#times = { ...liveTimes, ...options.times }
  }

  follow<E extends LiveEndpoint>(topic: LiveTopic<E>, options: FollowOptions<E>): Promise<void> {
    const { signal, position } = options
    if (signal.aborted) return Promise.resolve()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      this.#send({ t: 'unsubscribe', id: follower.id })
      follower.settle()
    }
    const follower: Follower = {
      id: ++this.#lastId,
      topic,
      position,
      options: options as unknown as FollowOptions<LiveEndpoint>,
      own: undefined,
      settle: (error) => {
        signal.removeEventListener('abort', leave)
        this.#followers.delete(follower.id)
        if (this.#followers.size === 0) this.#linger = setTimeout(() => this.#disconnect(), this.#times.lingerMs)
        if (error) reject(error)
        else resolve()
      },
    }
    signal.addEventListener('abort', leave)
    this.#followers.set(follower.id, follower)
    clearTimeout(this.#linger)
    if (!this.#checking) {
      this.#lastHeardMs = this.#reachedMs = this.#waitingMs = serviceNow()
      this.#open()
    } else this.#subscribe(follower)
    this.#report(follower)
    return promise
  }

  /** Reconnects at once if needed. Call it when the page becomes visible or the network returns. */
  check() {
    if (!this.#checking || (!this.#retry && serviceNow() - this.#socketHeardMs <= this.#times.lateMs)) return
    this.#waitingMs = serviceNow()
    this.#open()
  }

  #open() {
    this.#hangUp()
    // The page was frozen, so its data is old until the next message.
    if (this.#state === 'live' && serviceNow() - this.#lastHeardMs > this.#times.lateMs) this.#setState('late')
    // A dead connection may never fire close.
    this.#checking = setInterval(() => this.#checkSilence(), this.#times.checkMs)
    restartClock()
    this.#socketHeardMs = serviceNow()
    const socket = new (this.#options.WebSocket ?? globalThis.WebSocket)(this.#options.url())
    this.#socket = socket
    let isRefused = true
    socket.onopen = () => {
      isRefused = false
      this.#acks = new AckCounter((n) => this.#send({ t: 'ack', n }), liveAckMs)
      for (const follower of this.#followers.values()) this.#subscribe(follower)
    }
    socket.onmessage = ({ data }: MessageEvent<string>) => this.#onMessage(data)
    socket.onclose = async ({ code }) => {
      this.#lose()
      // If another account has signed in, the page stays and says so.
      const mayBeSignedOut = isRefused || code === liveClose.signedOut
      if (mayBeSignedOut && (await this.#options.isSignedOut())) this.#options.onSignedOut()
    }
  }

  #subscribe({ id, topic, position }: Follower) {
    this.#send({ t: 'subscribe', id, topic, ...(position !== undefined && { position }) })
  }

  #onMessage(text: string) {
    // The page was frozen, and queued heartbeats carry an old time.
    if (serviceNow() - this.#socketHeardMs > this.#times.lostMs) return this.#open()
    const notice = JSON.parse(text) as LiveNotice
    if (notice.t === 'heartbeat') syncClock(notice.now_ms)
    this.#socketHeardMs = this.#lastHeardMs = this.#reachedMs = this.#waitingMs = serviceNow()
    this.#stopPolling()
    if (this.#state !== 'live') this.#setState('live')
    if (notice.t === 'heartbeat') {
      this.#attempt = 0
      return
    }
    const follower = this.#followers.get(notice.id)
    switch (notice.t) {
      case 'data':
        this.#acks?.parsed(text.length)
        if (!follower) return
        follower.position = notice.position
        return follower.options.onItems(notice.items as never[], notice.position)
      case 'resync':
        if (!follower) return
        follower.position = notice.position
        return follower.options.onResync?.(notice.position)
      case 'state':
        if (!follower) return
        follower.own = {
          state: notice.state,
          sinceMs: notice.since_ms,
          ...(notice.error && { error: apiError(notice.error) }),
        }
        return this.#report(follower)
      case 'end':
        follower?.settle(notice.error && apiError(notice.error))
        // The service refused the key, so nothing else on this page will work.
        if (notice.error?.code === 'unauthenticated') this.#options.onSignedOut()
    }
  }

  #checkSilence() {
    const silentMs = serviceNow() - this.#socketHeardMs
    if (serviceNow() - this.#waitingMs > this.#times.pollAfterMs && !this.#polling) void this.#poll()
    if (this.#retry) return
    if (silentMs > this.#times.lostMs) this.#lose()
    else if (silentMs > this.#times.lateMs && this.#state === 'live') this.#setState('late')
  }

  #lose() {
    this.#hangUp()
    // The console reports each topic's state again on the next connection.
    for (const follower of this.#followers.values()) follower.own &&= { state: 'lost', sinceMs: this.#lastHeardMs }
    if (this.#state !== 'lost') this.#setState('lost')
    this.#checking = setInterval(() => this.#checkSilence(), this.#times.checkMs)
    this.#retry = setTimeout(() => this.#open(), backoffMs(this.#attempt++, this.#times))
  }

  async #poll() {
    const polling = new AbortController()
    this.#polling = polling
    const signal = AbortSignal.any([polling.signal, AbortSignal.timeout(this.#times.lostMs)])
    const sentMs = performance.now()
    const now = await this.#options.poll(signal).catch(() => undefined)
    if (polling.signal.aborted) return
    if (now) syncClock(now.now_ms, sentMs, performance.now())
    if (now) this.#reachedMs = serviceNow()
    this.#polled = now && { atMs: this.#reachedMs, topics: now.topics }
    for (const follower of now ? [...this.#followers.values()] : []) {
      const item = this.#polled?.topics[follower.topic.endpoint]?.item
      if (!item) follower.options.onPoll?.()
      else {
        follower.position = ''
        follower.options.onResync?.('')
        follower.options.onItems([item], '')
      }
    }
    this.#reportAll()
    await pause(this.#times.pollMs, polling.signal)
    if (this.#polling === polling) this.#polling = undefined
  }

  #stopPolling() {
    this.#polling?.abort()
    this.#polling = this.#polled = undefined
  }

  #disconnect() {
    this.#stopPolling()
    this.#hangUp()
  }

  #hangUp() {
    clearTimeout(this.#retry)
    clearTimeout(this.#linger)
    clearInterval(this.#checking)
    this.#acks?.stop()
    const socket = this.#socket
    this.#socket = this.#retry = this.#checking = this.#acks = undefined
    if (!socket) return
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }

  /** Dates the state from the last message, however often the page has reconnected since. */
  #setState(state: LiveHealth['state']) {
    this.#state = state
    this.#sinceMs = this.#lastHeardMs
    this.#reportAll()
  }

  #reportAll() {
    for (const follower of this.#followers.values()) this.#report(follower)
  }

  #report(follower: Follower) {
    const link = { state: this.#state, sinceMs: this.#sinceMs }
    const part =
      this.#state === 'live' ? (follower.own ?? { ...link, state: 'connecting' }) : this.#polledHealth(follower, link)
    const isUnreachable = this.#state === 'lost' && !this.#polled
    follower.options.onHealth?.({ ...part, ...(isUnreachable && { unreachableMs: this.#reachedMs }) })
  }

  #polledHealth(follower: Follower, link: Pick<LiveHealth, 'state' | 'sinceMs'>): LiveHealth {
    const polled = this.#polled?.topics[follower.topic.endpoint]
    if (!this.#polled || !polled) return link
    const { state, since_ms, error } = polled
    return state === 'live'
      ? { state: 'polled', sinceMs: this.#polled.atMs }
      : {
          state,
          sinceMs: since_ms,
          ...(error && { error: apiError(error) }),
        }
  }

  #send(request: LiveRequest) {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(request))
  }
}

const apiError = ({ code, status, message, request_id, retry_at_ms }: LiveError): ApiError =>
  new ApiError(code, status, message, {
    ...(request_id !== undefined && { requestId: request_id }),
    ...(retry_at_ms !== undefined && { retryAfterMs: Math.max(0, retry_at_ms - serviceNow()) }),
  })

/** Updates a query from a topic until the returned function is called. */
export const followQuery = <E extends LiveEndpoint>(
  client: QueryClient,
  queryKey: QueryKey,
  topic: LiveTopic<E>,
  read: (item: LiveItems[E]) => unknown,
): (() => void) => {
  const leaving = new AbortController()
  // The query's own request reports the error and retries.
  const refetch = () => void client.invalidateQueries({ queryKey })
  follow(topic, {
    signal: leaving.signal,
    onItems: (items) => {
      const last = items.at(-1)
      if (last) client.setQueryData(queryKey, read(last))
    },
    onHealth: ({ state }) => state === 'lost' && refetch(),
    onPoll: refetch,
  }).catch(refetch)
  return () => leaving.abort()
}

interface FollowedFeed<E extends LiveEndpoint, Feed> {
  queryKey: QueryKey
  empty: Feed
  topic: LiveTopic<E>
  next: (feed: Feed, items: LiveItems[E][]) => Feed
  onItems: (items: LiveItems[E][]) => void
}

/** Further items within this time are applied together: each change renders most of a page. */
const gatherMs = 100

/** Reduces the items of a topic into a cached feed until the returned function is called. */
export const followFeed = <E extends LiveEndpoint, Feed extends { health: LiveHealth }>(
  client: QueryClient,
  { queryKey, empty, topic, next, onItems }: FollowedFeed<E, Feed>,
): (() => void) => {
  const change = (update: (feed: Feed) => Feed) => client.setQueryData<Feed>(queryKey, (feed = empty) => update(feed))
  const leaving = new AbortController()
  let gathered: LiveItems[E][] = []
  let gathering: ReturnType<typeof setTimeout> | undefined
  const apply = () => {
    gathering = undefined
    if (gathered.length === 0 || leaving.signal.aborted) return
    const items = gathered
    gathered = []
    gathering = setTimeout(apply, gatherMs)
    change((feed) => next(feed, items))
    onItems(items)
  }
  follow(topic, {
    signal: leaving.signal,
    onItems: (items) => {
      gathered.push(...items)
      if (gathering === undefined) apply()
    },
    onHealth: (health) => change((feed) => ({ ...feed, health })),
  }).catch((error) => change((feed) => ({ ...feed, health: { ...feed.health, state: 'lost', error } })))
  return () => leaving.abort()
}
