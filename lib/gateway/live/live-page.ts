import { type RawData, WebSocket } from 'ws'
import * as z from 'zod/mini'
import { type LiveError, type LiveNotice, type LiveState, type LiveTopic, liveClose } from '#lib/protocol/live.ts'
import { type EndReason, type OpenStream, trackStream } from '../accounts/open-streams.ts'
import { personOf } from '../accounts/person.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { closeWithTimeout, parseJson, terminateWhenDead } from '../http/sockets.ts'
import type { SocketRoute } from '../http/upgrades.ts'
import { acquireSlot, concurrencyError } from '../limits/concurrency-limit.ts'
import { serviceNow, toServiceTime } from '../upstream/clock.ts'
import { sendAlerts } from './alert-topic.ts'
import { type MonitorListener, ServiceMonitor } from './service-monitor.ts'
import { type Subscriber, subscribe } from './subscription.ts'
import { type Topic, topics } from './topics.ts'

const heartbeatMs = 3_000
/** Sending pauses while a page has this many unprocessed characters. */
const maxUnread = 512 * 1024
/** Maximum characters per frame, unless one item is longer. */
const maxGathered = 64 * 1024
const maxRequestLength = 4 * 1024
/** Fits thirty commands with two streams each. */
const maxSubscriptions = 128

/** `/api/live`: a page's one connection for everything live except terminals. */
export const liveSocket = (monitor = new ServiceMonitor()): SocketRoute => ({
  path: /^\/api\/live$/,
  admit: async ({ header }) => {
    const session = await requireSignedIn(header)
    const person = personOf(session, header)
    return (socket) => {
      const releaseSlot = acquireSlot(session.account.id, 'pages')
      // Sent over the open socket, since browsers hide the reason for a failed upgrade.
      if (!releaseSlot) return socket.close(liveClose.tooMany, concurrencyError('pages').message)
      const page = new LivePage(socket, session, person, monitor)
      const forget = trackStream(session, page)
      socket.on('close', () => {
        page.leave()
        forget()
        releaseSlot()
      })
    }
  },
})

/** A page's live connection: its subscriptions and flow control. */
class LivePage implements OpenStream, MonitorListener {
  readonly #socket: WebSocket
  readonly session: KeyHolder
  readonly #person: string | null
  readonly monitor: ServiceMonitor
  readonly #followed = new Map<number, PageSubscription>()
  readonly #beating: NodeJS.Timeout
  /** Characters sent but not yet acknowledged. */
  unread = 0
  #waiting: (() => void)[] = []

  constructor(socket: WebSocket, session: KeyHolder, person: string | null, monitor: ServiceMonitor) {
    this.#socket = socket
    this.session = session
    this.#person = person
    this.monitor = monitor
    terminateWhenDead(socket)
    const beat = () => this.notify({ t: 'heartbeat', now_ms: serviceNow() })
    this.#beating = setInterval(beat, heartbeatMs)
    beat()
    monitor.listen(this)
    socket.on('message', (data: RawData, isBinary: boolean) => this.#message(isBinary ? undefined : String(data)))
    socket.on('error', () => socket.terminate())
  }

  end(reason: EndReason): void {
    if (reason === 'signed out') closeWithTimeout(this.#socket, liveClose.signedOut, 'Signed out')
    else
      closeWithTimeout(
        this.#socket,
        liveClose.consoleRestarting,
        reason === 'restarting' ? 'The console is restarting' : 'Your role has changed',
      )
  }

  notify(notice: LiveNotice): void {
    this.send(JSON.stringify(notice))
  }

  send(frame: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(frame, () => this.#wake())
  }

  /** Checks the socket too: a page may acknowledge data that has not left yet. */
  get hasRoom(): boolean {
    return this.unread < maxUnread && this.#socket.bufferedAmount < maxUnread
  }

  roomChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  forget(id: number): void {
    this.#followed.get(id)?.leave()
    if (this.#followed.delete(id)) this.#wake()
  }

  pulseChanged(): void {
    for (const followed of this.#followed.values()) followed.sendState()
  }

  /** Call when the socket has closed. */
  leave(): void {
    this.monitor.leave(this)
    clearInterval(this.#beating)
    for (const id of this.#followed.keys()) this.forget(id)
  }

  #message(text: string | undefined) {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    const isShort = text !== undefined && text.length <= maxRequestLength
    const request = isShort ? LiveRequest.safeParse(parseJson(text)).data : undefined
    if (!request) return closeWithTimeout(this.#socket, liveClose.invalid, 'Invalid frame')
    if (request.t === 'unsubscribe') this.forget(request.id)
    else if (request.t === 'ack') {
      // Acks count whole frames and must not exceed what was sent.
      this.unread = Math.max(0, this.unread - request.n)
      this.#wake()
    } else if (this.#followed.has(request.id))
      closeWithTimeout(this.#socket, liveClose.invalid, `Subscription ${request.id} already exists`)
    else if (this.#followed.size >= maxSubscriptions)
      closeWithTimeout(this.#socket, liveClose.tooMany, `At most ${maxSubscriptions} subscriptions per page`)
    else this.#follow(request)
  }

  #follow({ id, topic: { endpoint, ...asked }, position }: z.infer<typeof Subscribe>): void {
    const followed = new PageSubscription(id, this)
    this.#followed.set(id, followed)
    if (endpoint === 'alerts.watch') followed.source = sendAlerts(this.session, followed, this.#person)
    else this.#subscribe(topics[endpoint], asked, position || undefined, followed)
  }

  #subscribe(
    topic: Topic,
    asked: Pick<LiveTopic, 'params' | 'query'>,
    position: string | undefined,
    outlet: PageSubscription,
  ) {
    // Rejects ids that are not valid path segments.
    if (topic.endpoint.params?.safeParse(asked.params).success === false)
      return outlet.end({
        code: 'invalid_argument',
        status: 400,
        message: `${topic.endpoint.id} does not take these parameters`,
      })
    const releaseSlot = acquireSlot(this.session.account.id, 'streams')
    if (!releaseSlot)
      return outlet.end({ code: 'rate_limited', status: 429, message: concurrencyError('streams').message })
    const leaving = new AbortController()
    outlet.source = {
      leave: () => {
        leaving.abort()
        releaseSlot()
      },
    }
    void subscribe({
      session: this.session,
      topic,
      asked,
      position,
      outlet,
      heard: () => this.monitor.heard(),
      signal: leaving.signal,
    })
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }
}

/** One topic a page follows: its state and the items of the next frame. */
class PageSubscription implements Subscriber {
  readonly #id: number
  readonly #page: LivePage
  source: { leave(): void } | undefined
  #isOver = false
  /** State of its own stream, ignoring the service's health. */
  #own: { state: LiveState; since_ms: number; error?: LiveError } | undefined
  /** State last sent to the page. */
  #lastText = ''
  #items: string[] = []
  #length = 0
  #position = ''

  constructor(id: number, page: LivePage) {
    this.#id = id
    this.#page = page
  }

  data(text: string, position: string): void {
    if (this.#isOver) return
    // Items of one event loop turn share a frame.
    if (this.#items.push(text) === 1) setImmediate(() => this.#flush())
    this.#position = position
    this.#length += text.length
    this.#page.unread += text.length
    if (this.#length >= maxGathered) this.#flush()
  }

  room(): Promise<void> | undefined {
    return this.#page.hasRoom ? undefined : this.#untilRoom()
  }

  async #untilRoom(): Promise<void> {
    while (!this.#page.hasRoom && !this.#isOver) await this.#page.roomChange()
  }

  resync(position: string): void {
    if (this.#isOver) return
    this.#flush()
    this.#page.notify({ t: 'resync', id: this.#id, position })
  }

  state(state: LiveState, error?: LiveError): void {
    const own = this.#own
    const isSame = error?.code === own?.error?.code && error?.retry_at_ms === own?.error?.retry_at_ms
    if (this.#isOver || (state === own?.state && isSame)) return
    const since_ms = state === own?.state ? own.since_ms : serviceNow()
    this.#own = { state, since_ms, ...(error && { error }) }
    this.sendState()
  }

  sendState(): void {
    if (!this.#own) return
    const { lateSinceMs } = this.#page.monitor
    const isLate = this.#own.state === 'live' && lateSinceMs !== undefined
    const text = JSON.stringify({
      t: 'state',
      id: this.#id,
      ...this.#own,
      ...(isLate && { state: 'late', since_ms: toServiceTime(lateSinceMs) }),
    } satisfies LiveNotice)
    if (text === this.#lastText) return
    this.#lastText = text
    this.#page.send(text)
  }

  end(error?: LiveError): void {
    if (this.#isOver) return
    this.#flush()
    this.#page.notify({ t: 'end', id: this.#id, ...(error && { error }) })
    this.#page.forget(this.#id)
  }

  leave(): void {
    this.#isOver = true
    this.#page.unread -= this.#length
    this.source?.leave()
  }

  #flush(): void {
    const items = this.#items
    if (items.length === 0 || this.#isOver) return
    this.#items = []
    this.#length = 0
    const position = JSON.stringify(this.#position)
    this.#page.send(`{"t":"data","id":${this.#id},"position":${position},"items":[${items.join(',')}]}`)
  }
}

const followable = ['alerts.watch', ...Object.keys(topics)] as ['alerts.watch', ...(keyof typeof topics)[]]
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
