import { ServiceError } from '#lib/service/kit/errors.ts'

/** Unspecified: concurrent requests and streams per account, far more than a busy console needs. */
export const maxConcurrent = { calls: 1_024, streams: 1_024 }

export class ConcurrencyLimit {
  readonly #counts = new Map<string, number>()

  acquire(account: string, kind: keyof typeof maxConcurrent): () => void {
    const key = `${kind} ${account}`
    const count = this.#counts.get(key) ?? 0
    if (count >= maxConcurrent[kind])
      throw new ServiceError(
        'rate_limited',
        `This account has reached its limit of ${maxConcurrent[kind]} concurrent ${kind}; wait for one to end`,
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
