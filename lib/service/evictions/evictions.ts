import type { Eviction } from '#lib/contract/evictions.ts'
import { Condition } from '#lib/service/kit/condition.ts'
import { at } from '#lib/service/kit/timer.ts'
import type { EvictionStore, StoredEviction } from '#lib/service/store/evictions.ts'

// A subscriber this far behind has stopped reading. Its stream ends; a new connection repeats everything pending.
const maxQueued = 1000

type Listener = (eviction: StoredEviction) => void

/** Deadlines after which devboxes are suspended. They survive a restart; overdue ones fire at once. */
export class Evictions {
  readonly #store: EvictionStore
  readonly #suspend: (devboxId: string) => void
  readonly #pending = new Map<string, StoredEviction & { cancelTimer: () => void }>()
  readonly #listeners = new Set<Listener>()

  constructor(store: EvictionStore, suspend: (devboxId: string) => void) {
    this.#store = store
    this.#suspend = suspend
  }

  /** Sets the timers of the stored deadlines. Overdue ones fire in a later turn. */
  recover(): void {
    for (const eviction of this.#store.all()) this.#arm(eviction)
  }

  close(): void {
    for (const { cancelTimer } of this.#pending.values()) cancelTimer()
    this.#pending.clear()
  }

  /** Replaces the devbox's earlier deadline, if any. */
  schedule(account: string, eviction: Eviction): void {
    const stored = { account, ...eviction }
    this.#store.put(stored)
    this.#arm(stored)
    this.#tell(stored)
  }

  /**
   * Announces the end of a devbox that comes by other means, as at the end of the service itself. Nothing is stored and
   * nothing is done at the deadline.
   */
  announce(account: string, { devbox_id, eviction_deadline_ms }: Eviction): void {
    this.#pending.get(devbox_id)?.cancelTimer()
    const eviction = { account, devbox_id, eviction_deadline_ms }
    this.#pending.set(devbox_id, { ...eviction, cancelTimer: () => undefined })
    this.#tell(eviction)
  }

  deadlineOf(devboxId: string): number | undefined {
    return this.#pending.get(devboxId)?.eviction_deadline_ms
  }

  /** False when the devbox has no eviction pending. */
  cancel(devboxId: string): boolean {
    this.#pending.get(devboxId)?.cancelTimer()
    this.#pending.delete(devboxId)
    return this.#store.remove(devboxId)
  }

  pending(account: string): Eviction[] {
    return [...this.#pending.values()].filter((each) => each.account === account).map(view)
  }

  /**
   * Every pending eviction of the account, then each as it is scheduled; ends when `signal` aborts, or when the reader
   * falls too far behind.
   */
  async *watch(account: string, signal: AbortSignal): AsyncGenerator<Eviction> {
    const pending = this.pending(account)
    let queue: Eviction[] = []
    const condition = new Condition()
    const listener: Listener = (eviction) => {
      if (eviction.account !== account || queue.length > maxQueued) return
      queue.push(view(eviction))
      condition.notify()
    }
    this.#listeners.add(listener)
    signal.addEventListener('abort', condition.notify)
    try {
      yield* pending
      while (!signal.aborted) {
        if (queue.length > maxQueued) return
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

  #tell(eviction: StoredEviction) {
    for (const listener of this.#listeners) listener(eviction)
  }

  #arm(eviction: StoredEviction) {
    const { devbox_id, eviction_deadline_ms } = eviction
    this.#pending.get(devbox_id)?.cancelTimer()
    const cancelTimer = at(eviction_deadline_ms, () => {
      this.cancel(devbox_id)
      this.#suspend(devbox_id)
    })
    this.#pending.set(devbox_id, { ...eviction, cancelTimer })
  }
}

const view = ({ devbox_id, eviction_deadline_ms }: Eviction): Eviction => ({ devbox_id, eviction_deadline_ms })
