import type { Axon } from '#lib/contract/axons.ts'
import { type AxonFilter, matches } from './axon-filter.ts'

export interface Count {
  account: string
  filter: AxonFilter
  total: number
  /** All places from this one on are counted, and none before it. */
  from: number
}

/** Each change looks at every one of them. */
const maxCounts = 256

/**
 * How many axons meet a filter, for the filters in use. Counting is the dearest part of a list; these stay right as
 * axons come and change, because all of that happens here: no other process writes to the database.
 */
export class AxonCounts {
  readonly #counts = new Map<string, Count>()
  readonly #onSnapshots = new Set<Count>()

  /** The count if it is known. */
  peek(account: string, filter: AxonFilter): number | undefined {
    const key = keyOf(account, filter)
    const known = this.#counts.get(key)
    if (known?.from !== 0) return undefined
    this.#last(key, known)
    return known.total
  }

  /**
   * The count as far as it is known, for the caller to complete: from the newest place to the oldest, so that what changes
   * meanwhile is either counted or still to be. Callers at the same time complete the same one. `top` is after all places.
   */
  begin(account: string, filter: AxonFilter, top: number): Count {
    const key = keyOf(account, filter)
    const count = this.#counts.get(key) ?? { account, filter, total: 0, from: top }
    this.#last(key, count)
    for (const oldest of this.#counts.keys()) {
      if (this.#counts.size <= maxCounts) break
      this.#counts.delete(oldest)
    }
    return count
  }

  /** A count made on a snapshot of this moment: all that changes from now on is added to it, until it is whole. */
  beginSnapshot(account: string, filter: AxonFilter): Count & { finish: () => void; drop: () => void } {
    const count = { account, filter, total: 0, from: 0 }
    this.#onSnapshots.add(count)
    const drop = () => void this.#onSnapshots.delete(count)
    const finish = () => {
      drop()
      this.begin(account, filter, 0)
      this.#last(keyOf(account, filter), count)
    }
    return Object.assign(count, { finish, drop })
  }

  /** The one not used for longest is first in line to go. */
  #last(key: string, count: Count): void {
    this.#counts.delete(key)
    this.#counts.set(key, count)
  }

  /** An axon is new, or is not what it was before. */
  change(account: string, seq: number, after: Axon, before?: Axon): void {
    for (const count of [...this.#counts.values(), ...this.#onSnapshots]) {
      if (count.account !== account || seq < count.from) continue
      count.total += Number(matches(after, count.filter)) - (before ? Number(matches(before, count.filter)) : 0)
    }
  }
}

export const keyOf = (account: string, { id, name, search, metadata }: AxonFilter): string =>
  JSON.stringify([account, id, name, search, metadata])
