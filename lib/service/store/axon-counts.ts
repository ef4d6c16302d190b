import type { Axon } from '#lib/contract/axons.ts'
import { type AxonFilter, matches } from './axon-filter.ts'

interface Count {
  account: string
  filter: AxonFilter
  total: number
}

/** Each change looks at every one of them. */
const maxCounts = 256

/**
 * How many axons meet a filter, for the filters in use. Counting is the dearest part of a list; these stay right as
 * axons come and change, because all of that happens here: no other process writes to the database.
 */
export class AxonCounts {
  readonly #counts = new Map<string, Count>()

  get(account: string, filter: AxonFilter, count: () => number): number {
    const key = keyOf(account, filter)
    const known = this.#counts.get(key)
    // The one not used for longest is first in line to go.
    this.#counts.delete(key)
    const total = known?.total ?? count()
    if (this.#counts.size >= maxCounts)
      for (const oldest of this.#counts.keys()) {
        this.#counts.delete(oldest)
        break
      }
    this.#counts.set(key, { account, filter, total })
    return total
  }

  /** The count if it is known. */
  peek(account: string, filter: AxonFilter): number | undefined {
    return this.#counts.get(keyOf(account, filter))?.total
  }

  /** An axon is new, or is not what it was before. */
  change(account: string, after: Axon, before?: Axon): void {
    for (const count of this.#counts.values()) {
      if (count.account !== account) continue
      count.total += Number(matches(after, count.filter)) - (before ? Number(matches(before, count.filter)) : 0)
    }
  }
}

export const keyOf = (account: string, { id, name, search, metadata }: AxonFilter): string =>
  JSON.stringify([account, id, name, search, metadata])
