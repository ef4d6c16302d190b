import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '#lib/contract/endpoint.ts'

/** An answer as it was sent first. */
export interface Sent {
  json: string | Uint8Array
  headers: readonly [name: string, value: string][]
}

interface Kept {
  answer: Promise<Sent>
  untilMs: number
  bytes: number
}

/** Unspecified: for how long a repeated call is answered as the first one was. */
const windowMs = 10 * 60 * 1000
/** Unspecified: how long answers may be in all; beyond that the oldest are forgotten. */
const maxBytes = 64 * 1024 * 1024

/**
 * Remembers for a while what calls were answered that change something. A caller who lost the answer repeats the call
 * under the same `x-request-id`: it gets the first answer, and nothing is done twice. A call that failed is forgotten,
 * and so is one whose client disconnected while it waited: its handler throws the reason of `signal`.
 */
export class RepeatedCalls {
  readonly #kept = new Map<string, Kept>()
  #bytes = 0

  /** What tells the call from others; undefined for one whose repetition is a call of its own. */
  keyOf(
    request: IncomingMessage,
    requestId: string,
    endpoint: Endpoint,
    { account, input }: { account: string; input: object },
  ): string | undefined {
    const isRepeatable =
      request.method === 'POST' &&
      endpoint.response.kind === 'json' &&
      endpoint.bodyFormat === undefined &&
      // A client that waits for a state asks anew until it is reached; a snapshot that was deleted since is taken anew.
      !/wait|snapshot_disk/.test(endpoint.path) &&
      // Not one that was made up for a call without any.
      request.headers['x-request-id'] === requestId
    if (!isRepeatable) return undefined
    return createHash('sha256')
      .update(JSON.stringify([account, requestId, endpoint.id, input]))
      .digest('base64')
  }

  /** The answer to the first call under `key`, which `make` gives when there was none or it has failed. */
  async once(key: string, make: () => Promise<Sent>): Promise<Sent> {
    this.#forgetOld()
    const known = this.#kept.get(key)
    if (known) {
      const answer = await known.answer.catch(() => undefined)
      if (answer) return answer
      if (this.#kept.get(key) === known) this.#forget(key)
      return this.once(key, make)
    }
    const kept = { answer: make(), untilMs: Date.now() + windowMs, bytes: 0 }
    this.#kept.set(key, kept)
    try {
      const answer = await kept.answer
      if (this.#kept.get(key) === kept) {
        kept.bytes = answer.json.length
        this.#bytes += kept.bytes
        this.#forgetOld()
      }
      return answer
    } catch (error) {
      if (this.#kept.get(key) === kept) this.#forget(key)
      throw error
    }
  }

  #forgetOld() {
    const now = Date.now()
    // In the order they were made in, so the old ones come first.
    for (const [key, { untilMs }] of this.#kept) {
      if (untilMs > now && this.#bytes <= maxBytes) break
      this.#forget(key)
    }
  }

  #forget(key: string) {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }
}
