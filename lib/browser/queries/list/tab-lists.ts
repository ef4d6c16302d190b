import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'
import { accountHeaders } from '../../api/page-account.ts'
import type { RowRange } from '../../lists/refreshed-pages.ts'

/** Rows that one tab has read. */
export interface ReadRows {
  starting_after: string | undefined
  limit: number
}

/** What a tab has read, for the other tabs. */
export interface Reading extends ReadRows {
  /** The list, as `listName` names it. */
  list: string
  answer: unknown
}

/** Which loaded rows of a list a tab is going to read again, for the tab that reads first. */
interface Wanted extends RowRange {
  list: string
  tab: number
}

/** Of the query that reads a list again. */
export const refreshKey = (list: QueryKey): QueryKey => [...list, 'refresh']

/** The same in every tab of the browser, and another for another account. */
export const listName = (list: QueryKey): string => hashKey([list, accountHeaders()])

/** The lists of one tab, and what was last read of them in any tab. */
class TabLists {
  readonly #channel = new BroadcastChannel('devdeck-lists')
  readonly #joined = new Map<string, (reading: Reading) => void>()
  readonly #tab = Math.random()
  /** When which rows were read, the latest first. */
  #read: (ReadRows & { list: string; ms: number })[] = []
  /** What each other tab last wanted of each list. */
  #wanted: (Wanted & { ms: number })[] = []

  constructor() {
    this.#channel.onmessage = ({ data }: MessageEvent<Reading | Wanted>) => {
      if ('tab' in data) this.#noteWanted(data)
      else {
        this.#note(data)
        this.#joined.get(data.list)?.(data)
      }
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

  /** When rows of the list were last read that are all that is asked for; 0 where none were. */
  readMs(list: string, areAll: (rows: ReadRows) => boolean): number {
    return this.#read.find((rows) => rows.list === list && areAll(rows))?.ms ?? 0
  }

  want(list: string, { from, to }: RowRange): void {
    this.#channel.postMessage({ list, tab: this.#tab, from, to } satisfies Wanted)
  }

  /** What other tabs have wanted of the list since then. */
  wantedSince(list: string, ms: number): RowRange[] {
    return this.#wanted.filter((wanted) => wanted.list === list && wanted.ms >= ms)
  }

  #note({ list, starting_after, limit }: Reading): void {
    this.#read = [{ list, starting_after, limit, ms: Date.now() }, ...this.#read.filter(isKept)]
  }

  #noteWanted(wanted: Wanted): void {
    const others = this.#wanted.filter(({ list, tab }) => list !== wanted.list || tab !== wanted.tab)
    this.#wanted = [...others.filter(isKept), { ...wanted, ms: Date.now() }]
  }
}

/** Longer than any list waits to be read again. A tab that has told nothing for so long has closed or shows another list. */
const keptMs = 120_000
const isKept = ({ ms }: { ms: number }) => Date.now() - ms < keptMs

const tabs = new WeakMap<QueryClient, TabLists>()

export const tabLists = (client: QueryClient): TabLists => {
  const found = tabs.get(client) ?? new TabLists()
  tabs.set(client, found)
  return found
}
