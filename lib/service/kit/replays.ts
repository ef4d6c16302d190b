import { createHash } from 'node:crypto'

interface Replay<T> {
  result: Promise<T>
  untilMs: number
  bytes: number
}

/** Unspecified: how long a repeated request gets the first result, and the total size of results; the oldest are dropped. */
const windowMs = 10 * 60 * 1000
const maxBytes = 64 * 1024 * 1024

export class Replays<T> {
  readonly #bytesOf: (result: T) => number
  readonly #replays = new Map<string, Replay<T>>()
  #bytes = 0

  constructor(bytesOf: (result: T) => number = () => 0) {
    this.#bytesOf = bytesOf
  }

  /** Returns the result of the first call with `key`, unless it failed or is no longer `isValid`. */
  async once(key: string, make: () => Promise<T>, isValid: (result: T) => boolean = () => true): Promise<T> {
    this.#evict()
    const known = this.#replays.get(key)
    if (known) {
      const result = await known.result.catch(() => undefined)
      if (result !== undefined && isValid(result)) return result
      this.#delete(key, known)
      return this.once(key, make, isValid)
    }
    const replay = { result: make(), untilMs: Date.now() + windowMs, bytes: 0 }
    this.#replays.set(key, replay)
    try {
      const result = await replay.result
      replay.bytes = this.#bytesOf(result)
      if (this.#replays.get(key) === replay) this.#bytes += replay.bytes
      return result
    } catch (error) {
      this.#delete(key, replay)
      throw error
    }
  }

  #evict() {
    for (const [key, replay] of this.#replays) {
      if (replay.untilMs > Date.now() && this.#bytes <= maxBytes) break
      this.#delete(key, replay)
    }
  }

  #delete(key: string, replay: Replay<T>) {
    if (this.#replays.get(key) !== replay) return
    this.#bytes -= replay.bytes
    this.#replays.delete(key)
  }
}

export const callKey = (account: string, requestId: string, ...call: unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify([account, requestId, ...call]))
    .digest('base64')
