import { ServiceError } from '#lib/service/kit/errors.ts'

/** Unspecified: what one account may have under way at once. Far more than a console of many people needs. */
export const mostUnderWay = { calls: 1_024, streams: 1_024 }

/** What each account has under way. */
export class UnderWay {
  readonly #counts = new Map<string, number>()

  /** Counts one in, and returns the call that counts it out. Throws 429 when there are as many as there may be. */
  countIn(account: string, kind: keyof typeof mostUnderWay): () => void {
    const key = `${kind} ${account}`
    const count = this.#counts.get(key) ?? 0
    if (count >= mostUnderWay[kind])
      throw new ServiceError(
        'rate_limited',
        `${mostUnderWay[kind]} ${kind} of this account are under way; wait until one has ended`,
        { retryAfterSeconds: 1 },
      )
    this.#counts.set(key, count + 1)
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    }
  }
}
