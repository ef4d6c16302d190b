import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'
import { namedAccount } from '../../api/page-account.ts'

/** Rows of a list that one tab has read. */
export interface ReadRows {
  /** The list, as `listName` names it. */
  list: string
  starting_after: string | undefined
  limit: number
}

/** What it has read, for the other tabs. */
export interface Reading extends ReadRows {
  answer: unknown
}

/** Of the query that reads a list again. */
export const refreshKey = (list: QueryKey): QueryKey => [...list, 'refresh']

/** The same in every tab of the browser, and another for another account. */
export const listName = (list: QueryKey): string => hashKey([list, namedAccount()])

/** The lists of one tab, and what was last read of them in any tab. */
class TabLists {
  readonly #channel = new BroadcastChannel('devdeck-lists')
  readonly #joined = new Map<string, (reading: Reading) => void>()
  /** By the list and the row they start from: when so many of them were last read. */
  readonly #readMs = new Map<string, Map<number, number>>()

  constructor() {
    this.#channel.onmessage = ({ data }: MessageEvent<Reading>) => {
      this.#note(data)
      this.#joined.get(data.list)?.(data)
    }
    // Where a test waits for its process to end.
    ;(this.#channel as { unref?: () => void }).unref?.()
  }

  /** `onRead` is called with what another tab reads of the list, until the returned function is called. */
  join(list: QueryKey, onRead: (reading: Reading) => void): () => void {
    const name = listName(list)
    this.#joined.set(name, onRead)
    return () => {
      if (this.#joined.get(name) === onRead) this.#joined.delete(name)
    }
  }

  tell(reading: Reading): void {
    this.#note(reading)
    this.#channel.postMessage(reading)
  }

  /** When these rows were last read, alone or with those behind them. */
  readMs({ list, starting_after, limit }: ReadRows): number {
    const read = this.#readMs.get(hashKey([list, starting_after])) ?? new Map<number, number>()
    return Math.max(0, ...[...read].flatMap(([rows, ms]) => (rows >= limit ? [ms] : [])))
  }

  #note({ list, starting_after, limit }: Reading): void {
    const name = hashKey([list, starting_after])
    this.#readMs.set(name, (this.#readMs.get(name) ?? new Map<number, number>()).set(limit, Date.now()))
  }
}

const tabs = new WeakMap<QueryClient, TabLists>()

export const tabLists = (client: QueryClient): TabLists => {
  const found = tabs.get(client) ?? new TabLists()
  tabs.set(client, found)
  return found
}
