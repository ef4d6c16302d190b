import { ApiError } from '#lib/client/api-error.ts'
import { backoffMs, pause } from '#lib/client/backoff.ts'
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

/**
 * How far what is followed can be trusted right now. `polled`: no connection can be had, and what was asked for at
 * `sinceMs` in its place was answered.
 */
export interface LiveHealth {
  state: 'connecting' | LiveState | 'polled'
  /** Since when; this browser's clock. */
  sinceMs: number
  /** The console's clock minus this browser's. */
  clockOffsetMs: number
  /** Why it is lost, when the service told. */
  error?: ApiError
}

export const initialHealth: LiveHealth = { state: 'connecting', sinceMs: 0, clockOffsetMs: 0 }

export interface FollowOptions<E extends LiveEndpoint> {
  /** Up to where everything is known. */
  position?: string | undefined
  signal: AbortSignal
  onItems(items: LiveItems[E][], position: string): void
  /** What is known after `position` is to be dropped; the items that follow take its place. */
  onResync?(position: string): void
  onHealth?(health: LiveHealth): void
  /** No connection can be had, and the console answers calls all the same: told again and again. */
  onPoll?(): void
}

/**
 * Follows a topic over the page's one connection, through every break, without a gap and without telling an item twice.
 * Resolves when all is said or `signal` aborts; rejects with the ApiError for which asking again cannot help.
 */
export const follow = <E extends LiveEndpoint>(topic: LiveTopic<E>, options: FollowOptions<E>): Promise<void> => {
  connection ??= connectPage()
  return connection.follow(topic, options)
}

let connection: LiveConnection | undefined

const connectPage = (): LiveConnection => {
  const made = new LiveConnection({
    url: () => withAccount(`${location.origin.replace(/^http/, 'ws')}/api/live`),
    ask: (signal) => fetchConsoleJson<LiveSnapshot>('/api/live/now', signal),
    isSignedOut,
    onSignedOut: () => void redirectToSignIn(),
  })
  window.addEventListener('online', () => made.check())
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && made.check())
  return made
}

const liveTimes = {
  /** Two heartbeats and a bit: what is silent for longer is late. */
  lateMs: 7_000,
  /** What is silent for longer is lost, whatever its socket says; so is what does not open. */
  lostMs: 20_000,
  lookMs: 1_000,
  firstMs: 250,
  maxMs: 10_000,
  /** A page that has heard nothing for so long asks by plain calls, and again this often: a proxy may hold it back. */
  pollAfterMs: 8_000,
  pollMs: 5_000,
  /** The connection stays open this long after the last follower has left: the next page has others. */
  lingerMs: 5_000,
}

/**
 * The console lets half a mebibyte wait, and every 64 KiB are acknowledged at once: what is less may wait, so that a page
 * which is told little does not answer each word of it.
 */
export const liveAckMs = 1_000

/** Below this, a change of the measured offset is the network's jitter, and following it would make countdowns jump. */
const offsetJitterMs = 750

interface ConnectionOptions {
  url(): string
  /** What would be heard first, by a plain call. */
  ask(signal: AbortSignal): Promise<LiveSnapshot>
  /** Asked when a connection fails before it is open, because no browser tells why it was refused. */
  isSignedOut(): Promise<boolean>
  /** The page is expected to leave; while it stays, the connection goes on trying. */
  onSignedOut(): void
  WebSocket?: typeof globalThis.WebSocket
  times?: Partial<typeof liveTimes>
}

type KeptTopic = LiveSnapshot['topics'][keyof LiveSnapshot['topics']]

interface Follower {
  id: number
  topic: LiveTopic
  position: string | undefined
  options: FollowOptions<LiveEndpoint>
  /** What the console says of it. */
  own: Pick<LiveHealth, 'state' | 'sinceMs' | 'error'> | undefined
  told: LiveHealth | undefined
  settle(error?: ApiError): void
}

/** The one connection of a page for everything it follows. */
export class LiveConnection {
  readonly #options: ConnectionOptions
  readonly #times: typeof liveTimes
  readonly #followers = new Map<number, Follower>()
  #lastId = 0
  #socket: WebSocket | undefined
  #acks: AckCounter | undefined
  #state: LiveHealth['state'] = 'connecting'
  #sinceMs = Date.now()
  #heardMs = 0
  /** When anything was last heard over a connection, or the first was opened. */
  #lastWordMs = 0
  /** From when on a word is waited for before it is asked by plain calls. */
  #waitingMs = 0
  #asking: AbortController | undefined
  /** When it was last answered in place of a connection, and what; undefined while there is one. */
  #polled: { atMs: number; topics: Partial<Record<LiveEndpoint, KeptTopic>> } | undefined
  #clockOffsetMs = 0
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #looking: ReturnType<typeof setInterval> | undefined
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
      told: undefined,
      settle: (error) => {
        signal.removeEventListener('abort', leave)
        this.#followers.delete(follower.id)
        if (this.#followers.size === 0) this.#linger = setTimeout(() => this.#rest(), this.#times.lingerMs)
        if (error) reject(error)
        else resolve()
      },
    }
    signal.addEventListener('abort', leave)
    this.#followers.set(follower.id, follower)
    clearTimeout(this.#linger)
    if (!this.#looking) {
      this.#lastWordMs = this.#waitingMs = Date.now()
      this.#open()
    } else this.#subscribe(follower)
    this.#tell(follower)
    return promise
  }

  /** To be called when the page is looked at again, or the network has come back: waits for nothing any more. */
  check() {
    if (!this.#looking || (!this.#retry && Date.now() - this.#heardMs <= this.#times.lateMs)) return
    this.#waitingMs = Date.now()
    this.#open()
  }

  #open() {
    this.#hangUp()
    // The page itself was frozen: what it shows is as old as that until it is told anew.
    if (this.#state === 'live' && Date.now() - this.#lastWordMs > this.#times.lateMs) this.#enter('late')
    // A connection that died silently never closes by itself.
    this.#looking = setInterval(() => this.#look(), this.#times.lookMs)
    this.#heardMs = Date.now()
    const socket = new (this.#options.WebSocket ?? globalThis.WebSocket)(this.#options.url())
    this.#socket = socket
    let isRefused = true
    socket.onopen = () => {
      isRefused = false
      this.#acks = new AckCounter((n) => this.#send({ t: 'ack', n }), liveAckMs)
      for (const follower of this.#followers.values()) this.#subscribe(follower)
    }
    socket.onmessage = ({ data }: MessageEvent<string>) => this.#hear(data)
    socket.onclose = async ({ code }) => {
      this.#lose()
      // Another account may have been signed in to in place of the page's: then the page stays as it is, and says so.
      const asks = isRefused || code === liveClose.signedOut
      if (asks && (await this.#options.isSignedOut())) this.#options.onSignedOut()
    }
  }

  #subscribe({ id, topic, position }: Follower) {
    this.#send({ t: 'subscribe', id, topic, ...(position !== undefined && { position }) })
  }

  #hear(text: string) {
    // The page itself was frozen, otherwise the connection would count as lost. Frames that waited meanwhile carry an old time.
    if (Date.now() - this.#heardMs > this.#times.lostMs) return this.#open()
    this.#heardMs = this.#lastWordMs = this.#waitingMs = Date.now()
    this.#stopPolling()
    const notice = JSON.parse(text) as LiveNotice
    if (this.#state !== 'live') this.#enter('live')
    if (notice.t === 'heartbeat') {
      this.#attempt = 0
      return this.#setClock(notice.now_ms - this.#heardMs)
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
          sinceMs: notice.since_ms - this.#clockOffsetMs,
          ...(notice.error && { error: apiError(notice.error, this.#clockOffsetMs) }),
        }
        return this.#tell(follower)
      case 'end':
        follower?.settle(notice.error && apiError(notice.error, this.#clockOffsetMs))
        // The service itself refuses the key, so nothing else on this page will work.
        if (notice.error?.code === 'unauthenticated') this.#options.onSignedOut()
    }
  }

  #setClock(offset: number) {
    if (Math.abs(offset - this.#clockOffsetMs) <= offsetJitterMs) return
    this.#clockOffsetMs = offset
    this.#tellAll()
  }

  #look() {
    const silentMs = Date.now() - this.#heardMs
    if (Date.now() - this.#waitingMs > this.#times.pollAfterMs && !this.#asking) void this.#poll()
    if (this.#retry) return
    if (silentMs > this.#times.lostMs) this.#lose()
    else if (silentMs > this.#times.lateMs && this.#state === 'live') this.#enter('late')
  }

  #lose() {
    this.#hangUp()
    // The console's word on each follower ended with the connection, and comes again only with the next one.
    for (const follower of this.#followers.values()) follower.own &&= { state: 'lost', sinceMs: this.#lastWordMs }
    if (this.#state !== 'lost') this.#enter('lost')
    this.#looking = setInterval(() => this.#look(), this.#times.lookMs)
    this.#retry = setTimeout(() => this.#open(), backoffMs(this.#attempt++, this.#times))
  }

  /** Asks by a plain call, and again after a while, until something is heard over a connection. */
  async #poll() {
    const asking = new AbortController()
    this.#asking = asking
    const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(this.#times.lostMs)])
    const now = await this.#options.ask(signal).catch(() => undefined)
    if (asking.signal.aborted) return
    this.#polled = now && { atMs: Date.now(), topics: now.topics }
    if (now) this.#setClock(now.now_ms - Date.now())
    for (const follower of now ? [...this.#followers.values()] : []) {
      const item = this.#polled?.topics[follower.topic.endpoint]?.item
      if (!item) follower.options.onPoll?.()
      else {
        follower.position = ''
        follower.options.onResync?.('')
        follower.options.onItems([item], '')
      }
    }
    this.#tellAll()
    await pause(this.#times.pollMs, asking.signal)
    if (this.#asking === asking) this.#asking = undefined
  }

  #stopPolling() {
    this.#asking?.abort()
    this.#asking = this.#polled = undefined
  }

  #rest() {
    this.#stopPolling()
    this.#hangUp()
  }

  #hangUp() {
    clearTimeout(this.#retry)
    clearTimeout(this.#linger)
    clearInterval(this.#looking)
    this.#acks?.stop()
    const socket = this.#socket
    this.#socket = this.#retry = this.#looking = this.#acks = undefined
    if (!socket) return
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }

  /** What is late or lost is as old as the last word, however often a connection was tried since. */
  #enter(state: LiveHealth['state']) {
    this.#state = state
    this.#sinceMs = this.#lastWordMs
    this.#tellAll()
  }

  #tellAll() {
    for (const follower of this.#followers.values()) this.#tell(follower)
  }

  #tell(follower: Follower) {
    const link = { state: this.#state, sinceMs: this.#sinceMs }
    const part =
      this.#state === 'live' ? (follower.own ?? { ...link, state: 'connecting' }) : this.#inPlace(follower, link)
    const health: LiveHealth = { ...part, clockOffsetMs: this.#clockOffsetMs }
    const { told } = follower
    follower.told = health
    const isSame =
      told?.state === health.state &&
      told.sinceMs === health.sinceMs &&
      told.clockOffsetMs === health.clockOffsetMs &&
      told.error?.code === health.error?.code &&
      told.error?.retryAtMs === health.error?.retryAtMs
    if (!isSame) follower.options.onHealth?.(health)
  }

  /** What is known of it without a connection. */
  #inPlace(follower: Follower, link: Pick<LiveHealth, 'state' | 'sinceMs'>): Omit<LiveHealth, 'clockOffsetMs'> {
    const polled = this.#polled?.topics[follower.topic.endpoint]
    if (!this.#polled || !polled) return link
    const { state, since_ms, error } = polled
    return state === 'live'
      ? { state: 'polled', sinceMs: this.#polled.atMs }
      : {
          state,
          sinceMs: since_ms - this.#clockOffsetMs,
          ...(error && { error: apiError(error, this.#clockOffsetMs) }),
        }
  }

  #send(request: LiveRequest) {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(request))
  }
}

const apiError = ({ code, status, message, request_id, retry_at_ms }: LiveError, clockOffsetMs: number): ApiError =>
  new ApiError(code, status, message, {
    ...(request_id !== undefined && { requestId: request_id }),
    ...(retry_at_ms !== undefined && { retryAfterMs: Math.max(0, retry_at_ms - clockOffsetMs - Date.now()) }),
  })
