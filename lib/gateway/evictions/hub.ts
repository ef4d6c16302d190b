import { createHash } from 'node:crypto'
import { readRetryAfter } from '#lib/client/api-error.ts'
import { pause } from '#lib/client/backoff.ts'
import { parseEvents } from '#lib/client/events.ts'
import { Eviction, evictions } from '#lib/contract/evictions.ts'
import type { RelayData, RelayEvent, RelayUpstream } from '#lib/wire/evictions.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import { answering } from '../http/answer.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { bearer } from '../http/upstream.ts'
import { type EvictionListener, registry, trackStream } from '../registry.ts'

export const relayTimes = {
  heartbeatMs: 15_000,
  /** The upstream stream stays open this long after the last browser has left. */
  lingerMs: 30_000,
  /** After a connection goes live, the service has repeated every pending eviction within this time. */
  settleMs: 3_000,
  /** How long an eviction is still told after its deadline. */
  passedMs: 60_000,
  /** The stream says nothing when an eviction is taken back, and may lose an event; a new connection repeats them all. */
  refreshMs: 60_000,
  /** Silence after which a stream that has sent keep-alives counts as dead. */
  silenceMs: 45_000,
  connectMs: 15_000,
  shortestBackoffMs: 500,
  longestBackoffMs: 30_000,
  /** An embedded service has one console, which cannot crowd it, and is back within seconds. */
  longestEmbeddedBackoffMs: 2_000,
  longestRetryAfterMs: 300_000,
  /** A refused key is tried again no sooner than this, and only when a browser asks. */
  refusedMs: 60_000,
  /** A new browser waits this long for the first news of the service, so that it starts with all of it. */
  firstNewsMs: 2_000,
}
type RelayTimes = typeof relayTimes

/** A browser that has this much unread is sent nothing more until it has read; then it gets a snapshot. */
const maxUnreadBytes = 256 * 1024
/** Many times what an eviction takes; whatever is longer is none. */
const maxEventLength = 64 * 1024
const stableMs = 10_000
/** The service repeats what is pending right after its headers; this gathers it into the first snapshot. */
const gatherMs = 100
const colon = 0x3a

/** `GET /api/evictions`: every browser of an account shares one stream of the service. */
export const relayEvictions = (request: Request): Promise<Response> =>
  answering(request, async () => {
    const header = (name: string) => request.headers.get(name)
    requireSameOrigin(header, 'stream')
    const { sid, api_key } = await requireSignedIn(header)
    const { readable, end } = evictionHubFor(api_key).open(() => forget())
    const forget = trackStream(sid, end)
    return new Response(readable, {
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        'x-content-type-options': 'nosniff',
      },
    })
  })

/** Asks the service anew what is pending, as what this account just did may have taken an eviction back. */
export const refreshEvictions = (apiKey: string): void => registry().evictionHubs.get(accountOf(apiKey))?.refresh()

const accountOf = (apiKey: string) => createHash('sha256').update(apiKey).digest('hex')

/** The one watch of an account, begun with the first who asks for it. */
export const evictionHubFor = (apiKey: string) => {
  const { evictionHubs } = registry()
  const account = accountOf(apiKey)
  const found = evictionHubs.get(account)
  if (found) return found
  const hub = new EvictionHub(apiKey, () => {
    if (evictionHubs.get(account) === hub) evictionHubs.delete(account)
  })
  evictionHubs.set(account, hub)
  return hub
}

/** One watch of an account's evictions, fanned out to any number of listeners. */
export class EvictionHub {
  readonly #apiKey: string
  readonly #onClose: () => void
  readonly #times: RelayTimes
  readonly #pending = new Map<string, number>()
  readonly #listeners = new Set<EvictionListener>()
  readonly #closing = new AbortController()
  readonly #heartbeat: NodeJS.Timeout
  #linger: NodeJS.Timeout | undefined
  #upstream: RelayUpstream = { state: 'retrying', since_ms: Date.now(), attempt: 0 }
  #isWatching = false
  #hasNews = Promise.resolve()
  /** Ends the connection of the moment as one that has only become old. */
  #endOld: () => void = () => undefined

  constructor(apiKey: string, onClose: () => void = () => undefined, times: RelayTimes = relayTimes) {
    this.#apiKey = apiKey
    this.#onClose = onClose
    this.#times = times
    this.#heartbeat = setInterval(() => this.#beat(), times.heartbeatMs)
  }

  /** Tells `listener` everything, and then what changes, until the returned function is called. */
  join(listener: EvictionListener): () => void {
    this.#listeners.add(listener)
    clearTimeout(this.#linger)
    this.#watchAgain()
    void this.#hasNews.then(() => this.#listeners.has(listener) && listener.start(this.everything()))
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
      this.#linger = setTimeout(() => this.close(), this.#times.lingerMs)
    }
  }

  /** A stream of server-sent events for one script. `end` closes it from this side; `onEnd` follows either way. */
  open(onEnd: () => void = () => undefined): { readable: ReadableStream<Uint8Array>; end: () => void } {
    const stream = new EvictionEvents(
      () => this.everything(),
      () => {
        leave()
        onEnd()
      },
    )
    const leave = this.join(stream)
    return { readable: stream.readable, end: () => stream.end() }
  }

  /** All there is to know. */
  everything(): RelayData['snapshot'] {
    const evictions = [...this.#pending].map(([devbox_id, eviction_deadline_ms]) => ({
      devbox_id,
      eviction_deadline_ms,
    }))
    return { evictions, upstream: this.#upstream }
  }

  /** Connects anew: the service then repeats what is still pending, and what it does not repeat is removed. */
  refresh(): void {
    this.#endOld()
  }

  close(): void {
    this.#closing.abort()
    clearInterval(this.#heartbeat)
    clearTimeout(this.#linger)
    for (const listener of [...this.#listeners]) listener.end()
    clearTimeout(this.#linger)
    this.#onClose()
  }

  #watchAgain(): void {
    if (this.#isWatching) return
    const { state, since_ms } = this.#upstream
    if (state === 'refused' && Date.now() - since_ms < this.#times.refusedMs) return
    this.#isWatching = true
    const news = Promise.withResolvers<void>()
    this.#hasNews = news.promise
    setTimeout(news.resolve, this.#times.firstNewsMs)
    void this.#watch(news.resolve).finally(() => {
      this.#isWatching = false
    })
  }

  /** Connects again and again, until the hub is closed or the service refuses the key. */
  async #watch(onNews: () => void): Promise<void> {
    const { signal } = this.#closing
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = Date.now()
      let retryAfterMs = 0
      try {
        const ended = await this.#connection(onNews)
        if (ended === 'refresh') {
          failures = 0
          continue
        }
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof RefusedKey) {
          this.#setUpstream('refused', failures)
          return onNews()
        }
        if (error instanceof SlowDown) retryAfterMs = error.afterMs
      }
      failures = Date.now() - startedAt > stableMs ? 1 : failures + 1
      this.#setUpstream('retrying', failures)
      onNews()
      const { shortestBackoffMs, longestBackoffMs, longestEmbeddedBackoffMs } = this.#times
      const longestMs = registry().service.embedded ? longestEmbeddedBackoffMs : longestBackoffMs
      // Full jitter: consoles that lost the same service must not come back in step.
      const backoffMs = Math.random() * Math.min(longestMs, shortestBackoffMs * 2 ** Math.min(failures, 16))
      await pause(Math.max(retryAfterMs, backoffMs), signal)
    }
  }

  /** One connection, from request to end. `refresh` when it has only become old. */
  async #connection(onNews: () => void): Promise<'refresh' | 'ended'> {
    const { connectMs, refreshMs, settleMs, silenceMs } = this.#times
    const ending = new AbortController()
    const signal = AbortSignal.any([this.#closing.signal, ending.signal])
    const timers = new Set<NodeJS.Timeout>()
    const after = (ms: number, run: () => void) => {
      const timer = setTimeout(run, ms)
      timers.add(timer)
      return timer
    }
    let isOld = false
    try {
      const connecting = after(connectMs, () => ending.abort())
      const body = await this.#request(signal)
      clearTimeout(connecting)
      this.#setUpstream('live', 0)
      after(gatherMs, onNews)
      this.#endOld = () => {
        isOld = true
        ending.abort()
      }
      after(refreshMs, this.#endOld)
      const reported = new Set<string>()
      after(settleMs, () => this.#removeAllBut(reported))
      let comments = 0
      let silence: NodeJS.Timeout | undefined
      const heard = body.pipeThrough(
        new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
          transform: (chunk, controller) => {
            if (chunk[0] === colon) comments += 1
            // One comment may be a greeting. From the second on, silence is a reason to worry.
            if (comments > 1) {
              clearTimeout(silence)
              silence = after(silenceMs, () => ending.abort())
            }
            controller.enqueue(chunk)
          },
        }),
      )
      for await (const { event, data } of parseEvents(heard, { maxLength: maxEventLength, tooLong: 'skip' })) {
        if (event === 'error') return 'ended'
        const eviction = readEviction(data)
        if (!eviction) continue
        reported.add(eviction.devbox_id)
        this.#report(eviction)
      }
      return 'ended'
    } catch (error) {
      if (isOld) return 'refresh'
      throw error
    } finally {
      ending.abort()
      for (const timer of timers) clearTimeout(timer)
    }
  }

  async #request(signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const response = await fetch(registry().service.url() + evictions.watch.path, {
      headers: { accept: 'text/event-stream', ...bearer(this.#apiKey) },
      signal,
      redirect: 'error',
      cache: 'no-store',
    })
    const { status, headers, body } = response
    if (response.ok && body && headers.get('content-type')?.startsWith('text/event-stream')) return body
    await body?.cancel()
    if (status === 401 || status === 403) throw new RefusedKey()
    throw new SlowDown(Math.min(readRetryAfter(headers) ?? 0, this.#times.longestRetryAfterMs))
  }

  /** The latest deadline received wins, even an earlier one: the service may move it either way. */
  #report({ devbox_id, eviction_deadline_ms }: Eviction): void {
    if (this.#pending.get(devbox_id) === eviction_deadline_ms) return
    if (this.#hasPassed(eviction_deadline_ms)) return
    this.#pending.set(devbox_id, eviction_deadline_ms)
    this.#tell({ event: 'eviction', data: { devbox_id, eviction_deadline_ms } })
  }

  #removeAllBut(reported: ReadonlySet<string>): void {
    for (const id of [...this.#pending.keys()]) if (!reported.has(id)) this.#remove(id)
  }

  #remove(devbox_id: string): void {
    this.#pending.delete(devbox_id)
    this.#tell({ event: 'removed', data: { devbox_id } })
  }

  #hasPassed(deadlineMs: number): boolean {
    return Date.now() - deadlineMs > this.#times.passedMs
  }

  #beat(): void {
    for (const [id, deadlineMs] of [...this.#pending]) if (this.#hasPassed(deadlineMs)) this.#remove(id)
    this.#tell({ event: 'heartbeat', data: { now_ms: Date.now() } })
  }

  #setUpstream(state: RelayUpstream['state'], attempt: number): void {
    const before = this.#upstream
    if (state === before.state && attempt === before.attempt) return
    this.#upstream = { state, attempt, since_ms: state === before.state ? before.since_ms : Date.now() }
    this.#tell({ event: 'upstream', data: this.#upstream })
  }

  #tell(event: RelayEvent): void {
    for (const listener of this.#listeners) listener.tell(event)
  }
}

/** One script's stream of server-sent events. What it has not read is bounded; it never holds up the others. */
class EvictionEvents implements EvictionListener {
  readonly readable: ReadableStream<Uint8Array>
  readonly #onEnd: () => void
  readonly #encoder = new TextEncoder()
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #state: 'waiting' | 'current' | 'behind' | 'ended' = 'waiting'
  #lastId = 0

  constructor(everything: () => RelayData['snapshot'], onEnd: () => void) {
    this.#onEnd = onEnd
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          // Sent at once, so that a script can tell a quiet service from a proxy that holds everything back.
          this.#write('retry: 2000\n\n')
        },
        pull: () => {
          if (this.#state === 'behind') this.start(everything())
        },
        cancel: () => this.#finish(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxUnreadBytes }),
    )
  }

  /** Begins, or begins anew, with everything that is known; the heartbeat is for setting the clock by. */
  start(data: RelayData['snapshot']): void {
    if (this.#state === 'ended') return
    this.#state = 'current'
    this.#event({ event: 'snapshot', data })
    this.#event({ event: 'heartbeat', data: { now_ms: Date.now() } })
  }

  tell(event: RelayEvent): void {
    if (this.#state !== 'current') return
    if ((this.#controller.desiredSize ?? 0) > 0) this.#event(event)
    else this.#state = 'behind'
  }

  end(): void {
    if (this.#state === 'ended') return
    this.#controller.close()
    this.#finish()
  }

  #finish(): void {
    this.#state = 'ended'
    this.#onEnd()
  }

  #event({ event, data }: RelayEvent): void {
    this.#lastId += 1
    this.#write(`id: ${this.#lastId}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #write(text: string): void {
    this.#controller.enqueue(this.#encoder.encode(text))
  }
}

class RefusedKey extends Error {}

class SlowDown extends Error {
  readonly afterMs: number

  constructor(afterMs: number) {
    super(`Try again after ${afterMs} ms`)
    this.afterMs = afterMs
  }
}

const readEviction = (data: string): Eviction | undefined => {
  try {
    return Eviction.parse(JSON.parse(data))
  } catch {
    // A malformed event must not end the stream, nor reach a browser.
    return undefined
  }
}
