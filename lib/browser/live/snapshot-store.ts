/** A flood brings thousands of items; rendering for each would take longer than they take to arrive. */
const publishDelayMs = 50

/** A store for useSyncExternalStore whose snapshots are built from what has been collected. */
export abstract class SnapshotStore<Snapshot extends object> {
  readonly #listeners = new Set<() => void>()
  #snapshot: Snapshot
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
  }

  getSnapshot = (): Snapshot => this.#snapshot

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  protected abstract collect(): Partial<Snapshot>

  protected publish(change: Partial<Snapshot> = {}): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#snapshot = { ...this.#snapshot, ...this.collect(), ...change }
    for (const listener of this.#listeners) listener()
  }

  protected publishSoon(): void {
    this.#timer ??= setTimeout(() => this.publish(), publishDelayMs)
  }
}
