import { type RawData, WebSocket } from 'ws'
import * as z from 'zod/mini'
import type { LiveNotice, LiveTopic } from '#lib/protocol/live.ts'
import { liveClose } from '#lib/protocol/live.ts'
import type { EndReason, OpenStream } from '../accounts/open-streams.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { closeWithTimeout, parseJson, terminateWhenDead } from '../http/sockets.ts'
import { acquireSlot, concurrencyError } from '../limits/concurrency-limit.ts'
import { serviceNow } from '../upstream/clock.ts'
import { followAlerts } from './alert-feed.ts'
import { PageSubscription } from './page-subscription.ts'
import type { MonitorListener, ServiceMonitor } from './service-monitor.ts'
import { subscribe } from './subscription.ts'
import { type Topic, topics } from './topics.ts'

const heartbeatMs = 3_000
/** Sending pauses while a page has this many unprocessed characters. */
const maxUnread = 512 * 1024
const maxRequestLength = 4 * 1024
/** Fits thirty commands with two streams each. */
const maxSubscriptions = 128

/** Open pages. One timer and one frame serve them all. */
const openPages = new Set<LivePage>()
let beating: NodeJS.Timeout | undefined

const heartbeat = () => JSON.stringify({ t: 'heartbeat', now_ms: serviceNow() } satisfies LiveNotice)

const beatAll = () => {
  const frame = heartbeat()
  for (const page of openPages) page.send(frame)
}

/** A page's live connection: its subscriptions and flow control. */
export class LivePage implements OpenStream, MonitorListener {
  readonly #socket: WebSocket
  readonly #session: KeyHolder
  readonly monitor: ServiceMonitor
  readonly #followed = new Map<number, PageSubscription>()
  /** Characters sent but not yet acknowledged. */
  unread = 0
  #waiting: (() => void)[] = []

  constructor(socket: WebSocket, session: KeyHolder, monitor: ServiceMonitor) {
    this.#socket = socket
    this.#session = session
    this.monitor = monitor
    terminateWhenDead(socket)
    openPages.add(this)
    beating ??= setInterval(beatAll, heartbeatMs)
    this.send(heartbeat())
    monitor.listen(this)
    socket.on('message', (data: RawData, isBinary: boolean) => this.#message(isBinary ? undefined : String(data)))
    socket.on('error', () => socket.terminate())
  }

  end(reason: EndReason): void {
    if (reason === 'signed out') this.#close(liveClose.signedOut, 'Signed out')
    else this.#close(liveClose.consoleRestarting, 'The console is restarting')
  }

  #close(code: number, reason: string): void {
    closeWithTimeout(this.#socket, code, reason)
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

  /** Resolves when there may be room. */
  roomChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  forget(id: number): void {
    this.#followed.get(id)?.leave()
    if (this.#followed.delete(id)) this.#wake()
  }

  pulseChanged(): void {
    for (const followed of this.#followed.values()) followed.tellState()
  }

  /** Call when the socket has closed. */
  leave(): void {
    this.monitor.leave(this)
    openPages.delete(this)
    if (openPages.size === 0) {
      clearInterval(beating)
      beating = undefined
    }
    for (const id of this.#followed.keys()) this.forget(id)
  }

  #message(text: string | undefined) {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    const isShort = text !== undefined && text.length <= maxRequestLength
    const request = isShort ? LiveRequest.safeParse(parseJson(text)).data : undefined
    if (!request) return this.#close(liveClose.invalid, 'Invalid frame')
    if (request.t === 'unsubscribe') this.forget(request.id)
    else if (request.t === 'ack') {
      // Acks count whole frames and must not exceed what was sent.
      this.unread = Math.max(0, this.unread - request.n)
      this.#wake()
    } else if (this.#followed.has(request.id))
      this.#close(liveClose.invalid, `Subscription ${request.id} already exists`)
    else if (this.#followed.size >= maxSubscriptions)
      this.#close(liveClose.tooMany, `At most ${maxSubscriptions} subscriptions per page`)
    else this.#follow(request)
  }

  #follow({ id, topic: { endpoint, ...asked }, position }: z.infer<typeof Subscribe>): void {
    const followed = new PageSubscription(id, this)
    this.#followed.set(id, followed)
    if (endpoint === 'alerts.watch') followed.source = followAlerts(this.#session, followed)
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
    const releaseSlot = acquireSlot(this.#session.account.id, 'streams')
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
      session: this.#session,
      topic,
      asked,
      position,
      outlet,
      heard: () => this.monitor.heard(),
      signal: leaving.signal,
    })
  }

  #wake(): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const go of waiting) go()
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
