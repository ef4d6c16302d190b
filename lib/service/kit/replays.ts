import { createHash } from 'node:crypto'

interface Replay {
  created: Promise<string>
  untilMs: number
}

/** Unspecified: how long a repeated request returns the first resource. */
const defaultWindowMs = 10 * 60 * 1000

/**
 * Remembers which resource a request created, so a retry returns it instead of creating another. Failed requests are
 * forgotten.
 */
export class Replays {
  readonly #windowMs: number
  readonly #replays = new Map<string, Replay>()

  constructor(windowMs = defaultWindowMs) {
    this.#windowMs = windowMs
  }

  /** Returns the id created by the first request with `key`, unless it is no longer `isValid`. */
  async once(key: string, make: () => Promise<string>, isValid: (id: string) => boolean = () => true): Promise<string> {
    const now = Date.now()
    for (const [old, { untilMs }] of this.#replays) {
      if (untilMs > now) break
      this.#replays.delete(old)
    }
    const known = this.#replays.get(key)
    if (known) {
      const id = await known.created
      if (isValid(id)) return id
      if (this.#replays.get(key) === known) this.#replays.delete(key)
      return this.once(key, make, isValid)
    }
    const created = make()
    const replay = { created, untilMs: now + this.#windowMs }
    this.#replays.set(key, replay)
    created.catch(() => {
      if (this.#replays.get(key) === replay) this.#replays.delete(key)
    })
    return created
  }
}

export const callKey = (account: string, requestId: string, body: object): string =>
  createHash('sha256')
    .update(JSON.stringify([account, requestId, body]))
    .digest('base64')
