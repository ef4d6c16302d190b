import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '#lib/contract/endpoint.ts'

export interface StoredResponse {
  json: string | Uint8Array
  headers: readonly [name: string, value: string][]
}

interface Entry {
  response: Promise<StoredResponse>
  untilMs: number
  bytes: number
}

/** Unspecified: how long a repeated request gets the first response. */
const windowMs = 10 * 60 * 1000
/** Unspecified: total size of stored responses; the oldest are dropped. */
const maxBytes = 64 * 1024 * 1024

/**
 * Replays responses of POST requests repeated with the same `x-request-id`, so clients can retry safely. Failed
 * requests are forgotten, as are those whose client disconnected and whose handler threw the signal's reason.
 */
export class IdempotencyCache {
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

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
      // Excludes waits, which clients repeat, and snapshots, which handle retries themselves.
      !/wait|snapshot_disk/.test(endpoint.path) &&
      request.headers['x-request-id'] === requestId
    if (!isRepeatable) return undefined
    return createHash('sha256')
      .update(JSON.stringify([account, requestId, endpoint.id, input]))
      .digest('base64')
  }

  async once(key: string, make: () => Promise<StoredResponse>): Promise<StoredResponse> {
    this.#evict()
    const known = this.#entries.get(key)
    if (known) {
      const response = await known.response.catch(() => undefined)
      if (response) return response
      if (this.#entries.get(key) === known) this.#delete(key)
      return this.once(key, make)
    }
    const entry = { response: make(), untilMs: Date.now() + windowMs, bytes: 0 }
    this.#entries.set(key, entry)
    try {
      const response = await entry.response
      if (this.#entries.get(key) === entry) {
        entry.bytes = response.json.length
        this.#bytes += entry.bytes
        this.#evict()
      }
      return response
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#delete(key)
      throw error
    }
  }

  #evict() {
    const now = Date.now()
    for (const [key, { untilMs }] of this.#entries) {
      if (untilMs > now && this.#bytes <= maxBytes) break
      this.#delete(key)
    }
  }

  #delete(key: string) {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}
