import { createHash } from 'node:crypto'

interface Replay {
  answer: Promise<string>
  untilMs: number
}

/** Unspecified: for how long a repeated call answers the resource that the first one made. */
const defaultWindowMs = 10 * 60 * 1000

/**
 * Remembers for a while which resource a call has made, so that a caller who lost the answer and repeats the call gets
 * that one and no second. A call that failed is forgotten: repeating it tries again.
 */
export class Replays {
  readonly #windowMs: number
  readonly #made = new Map<string, Replay>()

  constructor(windowMs = defaultWindowMs) {
    this.#windowMs = windowMs
  }

  /** The id that the first call under `key` made, or makes at this moment, unless that one is not `isGood` any more. */
  async once(key: string, make: () => Promise<string>, isGood: (id: string) => boolean = () => true): Promise<string> {
    const now = Date.now()
    // In the order they were made in, so the old ones come first.
    for (const [old, { untilMs }] of this.#made) {
      if (untilMs > now) break
      this.#made.delete(old)
    }
    const known = this.#made.get(key)
    if (known) {
      const id = await known.answer
      if (isGood(id)) return id
      if (this.#made.get(key) === known) this.#made.delete(key)
      return this.once(key, make, isGood)
    }
    const answer = make()
    const replay = { answer, untilMs: now + this.#windowMs }
    this.#made.set(key, replay)
    answer.catch(() => {
      if (this.#made.get(key) === replay) this.#made.delete(key)
    })
    return answer
  }
}

/** What tells one call from another: the same request of the same account with the same body is one call. */
export const callKey = (account: string, requestId: string, body: object): string =>
  createHash('sha256')
    .update(JSON.stringify([account, requestId, body]))
    .digest('base64')
