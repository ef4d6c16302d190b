/** A flood comes in thousands of items; drawing each would take longer than they take to come. */
const drawPauseMs = 50

/** What a page shows of something that it follows. Made for useSyncExternalStore. */
export abstract class SnapshotStore<Snapshot extends object> {
  readonly #listeners = new Set<() => void>()
  #snapshot: Snapshot
  #drawing: ReturnType<typeof setTimeout> | undefined

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
  }

  getSnapshot = (): Snapshot => this.#snapshot

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What has come since the last snapshot. */
  protected abstract gathered(): Partial<Snapshot>

  protected draw(change: Partial<Snapshot> = {}): void {
    clearTimeout(this.#drawing)
    this.#drawing = undefined
    this.#snapshot = { ...this.#snapshot, ...this.gathered(), ...change }
    for (const listener of this.#listeners) listener()
  }

  protected drawSoon(): void {
    this.#drawing ??= setTimeout(() => this.draw(), drawPauseMs)
  }
}
