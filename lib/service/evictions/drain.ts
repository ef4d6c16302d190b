import type { EventEmitter } from 'node:events'
import { devboxRefusal } from '#lib/contract/devboxes.ts'
import type { DevboxStore } from '#lib/service/store/devboxes.ts'
import type { Evictions } from './evictions.ts'

interface Options {
  store: Pick<DevboxStore, 'unended' | 'mustFind'>
  evictions: Pick<Evictions, 'schedule' | 'announce' | 'deadlineOf'>
  /** Emits `status` with (id, status) after every move of a devbox. */
  changes: EventEmitter
}

/**
 * Evicts every devbox of every account at one deadline.
 * Unspecified: what starts before the deadline. It is evicted with the rest, with the same warning; afterwards the
 * service goes on as before and suspended devboxes may be resumed.
 */
export class Drain {
  readonly #options: Options
  #deadlineMs = 0
  #evict: 'schedule' | 'announce' = 'schedule'

  constructor(options: Options) {
    this.#options = options
    options.changes.on('status', (id: string) => {
      if (Date.now() < this.#deadlineMs) this.#drain(id)
    })
  }

  /** Suspends the devboxes at the deadline. Resolves to how many there are. */
  schedule(deadlineMs: number): number {
    return this.#start(deadlineMs, 'schedule')
  }

  /**
   * Warns of the end of the service itself at the deadline.
   * Unspecified: the state a stopped service leaves. Devboxes that ran are not suspended: they start again with it.
   */
  announce(deadlineMs: number): number {
    return this.#start(deadlineMs, 'announce')
  }

  #start(deadlineMs: number, evict: 'schedule' | 'announce'): number {
    const isPending = Date.now() < this.#deadlineMs
    this.#deadlineMs = isPending ? Math.min(this.#deadlineMs, deadlineMs) : deadlineMs
    this.#evict = evict
    let devboxes = 0
    for (const id of this.#options.store.unended()) if (this.#drain(id, deadlineMs)) devboxes++
    return devboxes
  }

  /** False when the devbox is in no state to be evicted. An earlier deadline stays. */
  #drain(id: string, deadlineMs = this.#deadlineMs): boolean {
    const { store, evictions } = this.#options
    const { account, status } = store.mustFind(id)
    if (devboxRefusal('suspend', status)) return false
    if ((evictions.deadlineOf(id) ?? Number.POSITIVE_INFINITY) > deadlineMs)
      evictions[this.#evict](account, { devbox_id: id, eviction_deadline_ms: deadlineMs })
    return true
  }
}
