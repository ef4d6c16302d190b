import { SnapshotStore } from '#lib/browser/live/snapshot-store.ts'
import { noResults, runSearch, type SearchQuery, type SearchResults } from './search-commands.ts'

interface SearchSnapshot {
  /** The last search; null before the first. */
  query: SearchQuery | null
  state: 'running' | 'done' | 'canceled' | 'failed'
  results: SearchResults
  unreadable: number
  error: unknown
}

/** The last search of a devbox. Its results stay while files are opened from them. */
class FileSearch extends SnapshotStore<SearchSnapshot> {
  readonly #devboxId: string
  #controller = new AbortController()
  #results = noResults

  constructor(devboxId: string) {
    super({ query: null, state: 'done', results: noResults, unreadable: 0, error: null })
    this.#devboxId = devboxId
  }

  async start(query: SearchQuery): Promise<void> {
    this.#controller.abort()
    this.#controller = new AbortController()
    const { signal } = this.#controller
    this.#results = noResults
    this.publish({ query, state: 'running', unreadable: 0, error: null })
    try {
      const { unreadable } = await runSearch(this.#devboxId, query, {
        signal,
        onResults: (results) => {
          if (signal.aborted) return
          this.#results = results
          this.publishSoon()
        },
      })
      if (!signal.aborted) this.publish({ state: 'done', unreadable })
    } catch (error) {
      if (!signal.aborted) this.publish({ state: 'failed', error })
    }
  }

  cancel(): void {
    this.#controller.abort()
    if (this.getSnapshot().state === 'running') this.publish({ state: 'canceled' })
  }

  protected override collect() {
    return { results: this.#results }
  }
}

const searches = new Map<string, FileSearch>()

export const fileSearch = (devboxId: string): FileSearch => {
  const search = searches.get(devboxId) ?? new FileSearch(devboxId)
  searches.set(devboxId, search)
  return search
}
