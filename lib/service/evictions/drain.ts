import type { EventEmitter } from 'node:events'
import { devboxRefusal } from '#lib/contract/devboxes.ts'
import type { DevboxStore } from '#lib/service/store/devboxes.ts'
import type { Evictions } from './evictions.ts'

interface Options {
  store: Pick<DevboxStore, 'unended' | 'mustFind'>
  evictions: Pick<Evictions, 'schedule' | 'announce' | 'deadlineOf'>
  changes: EventEmitter
}

/**
 * Evicts all devboxes of all accounts at one deadline. Unspecified: includes devboxes that start before it. Afterwards,
 * devboxes can be resumed.
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

  schedule(deadlineMs: number): number {
    return this.#start(deadlineMs, 'schedule')
  }

  /** Announces that the service stops at the deadline. Unspecified: running devboxes restart with the service. */
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

  /** False if the devbox cannot be evicted. Keeps an earlier deadline. */
  #drain(id: string, deadlineMs = this.#deadlineMs): boolean {
    const { store, evictions } = this.#options
    const { account, status } = store.mustFind(id)
    if (devboxRefusal('suspend', status)) return false
    if ((evictions.deadlineOf(id) ?? Number.POSITIVE_INFINITY) > deadlineMs)
      evictions[this.#evict](account, { devbox_id: id, eviction_deadline_ms: deadlineMs })
    return true
  }
}
