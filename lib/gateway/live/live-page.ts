import { type RawData, WebSocket } from 'ws'
import * as z from 'zod/mini'
import type { LiveError, LiveNotice, LiveState } from '#lib/wire/live.ts'
import { liveClose } from '#lib/wire/live.ts'
import type { SignedIn } from '../accounts/signed-in.ts'
import { closeSoon, parseJson, watchForDeath } from '../http/sockets.ts'
import { countIn, tooMany } from '../under-way.ts'
import { followAlerts } from './alerts.ts'
import { followEvictions } from './evictions.ts'
import type { ServicePulse } from './service-pulse.ts'
import { type Outlet, subscribe } from './subscription.ts'
import { topics } from './topics.ts'

const heartbeatMs = 3_000
/** A page that has this much not taken in is sent no more data until it has. */
const maxUnread = 512 * 1024
/** What one frame gathers, unless one item alone is longer. */
const maxGathered = 64 * 1024
const maxRequestLength = 4 * 1024
/** Thirty commands of two streams each, and what else a page shows. */
const maxSubscriptions = 128

interface Subscribed {
  /** Ends what it reads. */
  leave: () => void
  /** Of its own stream, before the pulse of the service is taken into account. */
  own?: { state: LiveState; since_ms: number; error?: LiveError }
  /** What the page was told last. */
  told: string
  /** Gathered for the next frame, and how long they are. */
  items: string[]
  length: number
  position: string
}

/** Pages that are open. One timer and one frame serve them all. */
const openPages = new Set<LivePage>()
let beating: NodeJS.Timeout | undefined

const heartbeat = () => JSON.stringify({ t: 'heartbeat', now_ms: Date.now() } satisfies LiveNotice)

const beatAll = () => {
  const frame = heartbeat()
  for (const page of openPages) page.beat(frame)
}

/** The one live connection of a page: what it follows, and how much of it the page has taken in. */
export class LivePage {
  readonly #socket: WebSocket
  readonly #session: Pick<SignedIn, 'account' | 'api_key'>
  readonly #pulse: ServicePulse
  readonly #subscribed = new Map<number, Subscribed>()
  readonly #alive: ReturnType<typeof watchForDeath>
  #unread = 0
  #waiting: (() => void)[] = []

  constructor(socket: WebSocket, session: Pick<SignedIn, 'account' | 'api_key'>, pulse: ServicePulse) {
    this.#socket = socket
    this.#session = session
    this.#pulse = pulse
    this.#alive = watchForDeath(socket)
    openPages.add(this)
    beating ??= setInterval(beatAll, heartbeatMs)
    this.beat(heartbeat())
    const stopListening = pulse.listen(() => this.#tellStates())
    socket.on('message', (data: RawData, isBinary: boolean) => this.#message(isBinary ? undefined : String(data)))
    socket.on('error', () => socket.terminate())
    socket.once('close', () => {
      stopListening()
      this.#alive.stop()
      openPages.delete(this)
      if (openPages.size === 0) {
        clearInterval(beating)
        beating = undefined
      }
      for (const id of [...this.#subscribed.keys()]) this.#forget(id)
    })
  }

  /** Tells the clock of the console, in a frame that all pages share. */
  beat(frame: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(frame)
  }

  close(code: number, reason: string): void {
    closeSoon(this.#socket, code, reason)
  }

  #message(text: string | undefined) {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    const isShort = text !== undefined && text.length <= maxRequestLength
    const request = isShort ? LiveRequest.safeParse(parseJson(text)).data : undefined
    if (!request) return this.close(liveClose.invalid, 'This frame is none of the live connection')
    if (request.t === 'unsubscribe') this.#forget(request.id)
    else if (request.t === 'ack') {
      // A frame is a little longer than the items in it, and nobody can have taken in what was not sent.
      this.#unread = Math.max(0, this.#unread - request.n)
      this.#wake()
    } else if (this.#subscribed.has(request.id))
      this.close(liveClose.invalid, `The subscription ${request.id} is there already`)
    else if (this.#subscribed.size >= maxSubscriptions)
      this.close(liveClose.tooMany, `A page follows at most ${maxSubscriptions} things`)
    else this.#subscribe(request)
  }

  #subscribe({ id, topic: { endpoint, ...asked }, position }: z.infer<typeof Subscribe>) {
    const subscribed: Subscribed = { leave: () => undefined, told: '', items: [], length: 0, position: '' }
    this.#subscribed.set(id, subscribed)
    const outlet = this.#outlet(id, subscribed)
    if (endpoint === 'evictions.watch' || endpoint === 'alerts.watch') {
      const isEvictions = endpoint === 'evictions.watch'
      subscribed.leave = isEvictions
        ? followEvictions(this.#session.api_key, outlet)
        : followAlerts(this.#session, outlet)
      return
    }
    const topic = topics[endpoint]
    // What would be folded on its way to the service is no id of the contract, either.
    if (topic.endpoint.params?.safeParse(asked.params).success === false)
      return outlet.end({
        code: 'invalid_argument',
        status: 400,
        message: `${endpoint} does not take these parameters`,
      })
    const countOut = countIn(this.#session.account.id, 'streams')
    if (!countOut) return outlet.end({ code: 'rate_limited', status: 429, message: tooMany('streams').message })
    const leaving = new AbortController()
    subscribed.leave = () => {
      leaving.abort()
      countOut()
    }
    void subscribe({
      apiKey: this.#session.api_key,
      topic,
      asked,
      position: position || undefined,
      outlet,
      heard: () => this.#pulse.heard(),
      signal: leaving.signal,
    })
  }

  #outlet(id: number, subscribed: Subscribed): Outlet {
    const isOver = () => this.#subscribed.get(id) !== subscribed
    return {
      data: (text, position) => {
        if (isOver()) return
        // What comes in one turn of the event loop goes out in one frame.
        if (subscribed.items.push(text) === 1) setImmediate(() => this.#flush(id, subscribed))
        subscribed.position = position
        subscribed.length += text.length
        this.#unread += text.length
        if (subscribed.length >= maxGathered) this.#flush(id, subscribed)
      },
      room: () => (this.#hasRoom ? undefined : this.#room(isOver)),
      resync: (position) => {
        if (isOver()) return
        this.#flush(id, subscribed)
        this.#tell({ t: 'resync', id, position })
      },
      state: (state, error) => {
        if (isOver() || (state === subscribed.own?.state && error?.code === subscribed.own.error?.code)) return
        const since = state === subscribed.own?.state ? subscribed.own.since_ms : Date.now()
        subscribed.own = { state, since_ms: since, ...(error && { error }) }
        this.#tellState(id, subscribed)
      },
      end: (error) => {
        if (isOver()) return
        this.#flush(id, subscribed)
        this.#tell({ t: 'end', id, ...(error && { error }) })
        this.#forget(id)
      },
    }
  }

  #flush(id: number, subscribed: Subscribed): void {
    const { items, position } = subscribed
    if (items.length === 0 || this.#subscribed.get(id) !== subscribed) return
    subscribed.items = []
    subscribed.length = 0
    const frame = `{"t":"data","id":${id},"position":${JSON.stringify(position)},"items":[${items.join(',')}]}`
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(frame, () => this.#wake())
  }

  #forget(id: number): void {
    const subscribed = this.#subscribed.get(id)
    if (!subscribed) return
    // What it has gathered is not sent any more.
    this.#unread -= subscribed.length
    this.#subscribed.delete(id)
    subscribed.leave()
    this.#wake()
  }

  /** A page may say that it has taken in what has not even left. */
  get #hasRoom(): boolean {
    return this.#unread < maxUnread && this.#socket.bufferedAmount < maxUnread
  }

  async #room(isOver: () => boolean): Promise<void> {
    while (!this.#hasRoom && !isOver()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const go of waiting) go()
  }

  #tellStates(): void {
    for (const [id, subscribed] of this.#subscribed) this.#tellState(id, subscribed)
  }

  #tellState(id: number, subscribed: Subscribed): void {
    const { own } = subscribed
    if (!own) return
    const lateSinceMs = this.#pulse.lateSinceMs
    const isLate = own.state === 'live' && lateSinceMs !== undefined
    const notice: LiveNotice = { t: 'state', id, ...own, ...(isLate && { state: 'late', since_ms: lateSinceMs }) }
    const text = JSON.stringify(notice)
    if (text === subscribed.told) return
    subscribed.told = text
    this.#tell(notice)
  }

  #tell(notice: LiveNotice): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(notice))
  }
}

const followable = ['evictions.watch', 'alerts.watch', ...Object.keys(topics)] as [
  'evictions.watch',
  'alerts.watch',
  ...(keyof typeof topics)[],
]
const id = z.int().check(z.minimum(0), z.maximum(2 ** 31 - 1))
const Subscribe = z.object({
  t: z.literal('subscribe'),
  id,
  topic: z.object({
    endpoint: z.enum(followable),
    params: z.optional(z.record(z.string(), z.string())),
    query: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
  }),
  position: z.optional(z.string().check(z.regex(/^[\w:-]{0,64}$/))),
})
const LiveRequest = z.discriminatedUnion('t', [
  Subscribe,
  z.object({ t: z.literal('unsubscribe'), id }),
  z.object({ t: z.literal('ack'), n: z.int().check(z.minimum(0)) }),
])
