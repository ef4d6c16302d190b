import type { EventEmitter } from 'node:events'
import { devboxRefusal } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { Condition } from '#lib/service/kit/condition.ts'
import { at } from '#lib/service/kit/timer.ts'
import type { DevboxStore } from '#lib/service/store/devboxes.ts'
import type { EvictionStore, StoredEviction } from '#lib/service/store/evictions.ts'

type Listener = (eviction: StoredEviction) => void

/** Suspends devboxes at their deadlines. Survives a restart, which evicts overdue devboxes. */
export class Evictions {
  readonly #store: EvictionStore
  readonly #suspend: (devboxId: string) => void
  readonly #nodeOf: (devboxId: string) => string | undefined
  readonly #pending = new Map<string, StoredEviction & { cancelTimer: () => void }>()
  readonly #listeners = new Set<Listener>()

  constructor(
    store: EvictionStore,
    nodeOf: (devboxId: string) => string | undefined,
    suspend: (devboxId: string) => void,
  ) {
    this.#store = store
    this.#nodeOf = nodeOf
    this.#suspend = suspend
  }

  recover(): void {
    for (const eviction of this.#store.all()) this.#startTimer(eviction)
  }

  close(): void {
    for (const { cancelTimer } of this.#pending.values()) cancelTimer()
    this.#pending.clear()
  }

  schedule(account: string, eviction: Eviction): void {
    const stored = { account, ...eviction }
    this.#store.put(stored)
    this.#startTimer(stored)
    this.#notify(stored)
  }

  /** Announces a deadline without storing it or suspending the devbox, as when the service stops. */
  announce(account: string, { devbox_id, eviction_deadline_ms }: Eviction): void {
    this.#pending.get(devbox_id)?.cancelTimer()
    const eviction = { account, devbox_id, eviction_deadline_ms }
    this.#pending.set(devbox_id, { ...eviction, cancelTimer: () => undefined })
    this.#notify(eviction)
  }

  deadlineOf(devboxId: string): number | undefined {
    return this.#pending.get(devboxId)?.eviction_deadline_ms
  }

  cancel(devboxId: string): boolean {
    this.#pending.get(devboxId)?.cancelTimer()
    this.#pending.delete(devboxId)
    return this.#store.remove(devboxId)
  }

  pending(account: string): Eviction[] {
    return [...this.#pending.values()].filter((each) => each.account === account).map((each) => this.#view(each))
  }

  /** Pending evictions of the account, then new ones until `signal` aborts. */
  async *watch(account: string, signal: AbortSignal): AsyncGenerator<Eviction> {
    let queue = this.pending(account)
    const condition = new Condition()
    const listener: Listener = (eviction) => {
      if (eviction.account !== account) return
      queue.push(this.#view(eviction))
      condition.notify()
    }
    this.#listeners.add(listener)
    signal.addEventListener('abort', condition.notify)
    try {
      while (!signal.aborted) {
        const { changed } = condition
        const batch = queue
        queue = []
        yield* batch
        if (batch.length === 0) await changed
      }
    } finally {
      this.#listeners.delete(listener)
      signal.removeEventListener('abort', condition.notify)
    }
  }

  #view({ devbox_id, eviction_deadline_ms }: Eviction): Eviction {
    const node = this.#nodeOf(devbox_id)
    return { devbox_id, eviction_deadline_ms, ...(node !== undefined && { node }) }
  }

  #notify(eviction: StoredEviction) {
    for (const listener of this.#listeners) listener(eviction)
  }

  #startTimer(eviction: StoredEviction) {
    const { devbox_id, eviction_deadline_ms } = eviction
    this.#pending.get(devbox_id)?.cancelTimer()
    const cancelTimer = at(eviction_deadline_ms, () => {
      this.cancel(devbox_id)
      this.#suspend(devbox_id)
    })
    this.#pending.set(devbox_id, { ...eviction, cancelTimer })
  }
}

interface DrainOptions {
  store: Pick<DevboxStore, 'unended' | 'mustFind'>
  evictions: Evictions
  changes: EventEmitter
  /** Whether the devbox keeps running when the service stops. */
  outlivesService: (devboxId: string) => boolean
}

/** Evicts all devboxes at one deadline. Unspecified: includes devboxes that start before it. */
export class Drain {
  readonly #options: DrainOptions
  #deadlineMs = 0
  #evict: 'schedule' | 'announce' = 'schedule'

  constructor(options: DrainOptions) {
    this.#options = options
    options.changes.on('status', (id: string) => {
      if (Date.now() < this.#deadlineMs) this.#drain(id)
    })
  }

  /** `announce` is for a service that stops. Unspecified: the running devboxes that end with it restart with it. */
  start(deadlineMs: number, evict: 'schedule' | 'announce'): number {
    const isPending = Date.now() < this.#deadlineMs
    this.#deadlineMs = isPending ? Math.min(this.#deadlineMs, deadlineMs) : deadlineMs
    this.#evict = evict
    let devboxes = 0
    for (const id of this.#options.store.unended()) if (this.#drain(id, deadlineMs)) devboxes++
    return devboxes
  }

  /** False if the devbox cannot be evicted. Keeps an earlier deadline. */
  #drain(id: string, deadlineMs = this.#deadlineMs): boolean {
    const { store, evictions, outlivesService } = this.#options
    const { account, status } = store.mustFind(id)
    if (devboxRefusal('suspend', status)) return false
    if (this.#evict === 'announce' && outlivesService(id)) return false
    if ((evictions.deadlineOf(id) ?? Number.POSITIVE_INFINITY) > deadlineMs)
      evictions[this.#evict](account, { devbox_id: id, eviction_deadline_ms: deadlineMs })
    return true
  }
}
