import type { RelayBye, RelayData, RelayEvent } from '#lib/protocol/evictions.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import { handleRequest } from '../http/handle-request.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { trackStream } from '../registry/registry.ts'
import { serviceNow } from '../upstream/clock.ts'
import type { EvictionListener, EvictionWatch } from './eviction-listener.ts'
import { evictionWatchFor } from './eviction-watch.ts'

/** A script that has this much unread is sent nothing more until it has read; then it gets a snapshot. */
const maxUnreadBytes = 256 * 1024

/** `GET /api/evictions`: every page and script of an account shares one stream of the service. */
export const relayEvictions = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const header = (name: string) => request.headers.get(name)
    requireSameOrigin(header, 'stream')
    const session = await requireSignedIn(header)
    const { readable, end } = openEventStream(evictionWatchFor(session), () => forget())
    const forget = trackStream(session, { end })
    return new Response(readable, {
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        'x-content-type-options': 'nosniff',
      },
    })
  })

/** A stream of server-sent events for one script. `end` closes it from this side; `onEnd` follows either way. */
export const openEventStream = (
  watch: Pick<EvictionWatch, 'join' | 'leave' | 'everything'>,
  onEnd: () => void = () => undefined,
): { readable: ReadableStream<Uint8Array>; end: EvictionEvents['end'] } => {
  const stream = new EvictionEvents(
    () => watch.everything(),
    () => {
      watch.leave(stream)
      onEnd()
    },
  )
  watch.join(stream)
  return { readable: stream.readable, end: (reason) => stream.end(reason) }
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
    this.#event({ event: 'heartbeat', data: { now_ms: serviceNow() } })
  }

  tell(event: RelayEvent): void {
    if (this.#state !== 'current') return
    if ((this.#controller.desiredSize ?? 0) > 0) this.#event(event)
    else this.#state = 'behind'
  }

  /** The reason tells a script whether to connect again at once or not at all. */
  end(reason?: RelayBye['data']['reason']): void {
    if (this.#state === 'ended') return
    if (reason) this.#event({ event: 'bye', data: { reason } })
    this.#controller.close()
    this.#finish()
  }

  #finish(): void {
    this.#state = 'ended'
    this.#onEnd()
  }

  #event({ event, data }: RelayEvent | RelayBye): void {
    this.#lastId += 1
    this.#write(`id: ${this.#lastId}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #write(text: string): void {
    this.#controller.enqueue(this.#encoder.encode(text))
  }
}
