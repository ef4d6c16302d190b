import type { AlertStreamHealth } from '#lib/protocol/alerts.ts'
import type { EvictionStreamState } from '#lib/protocol/evictions.ts'

const maxGaps = 20

/** The state of an account's watch of evictions, since when, and its gaps. */
export class WatchHealth {
  /** When it was last live; undefined before it first was. */
  #lostMs: number | undefined
  #health: Omit<AlertStreamHealth, 'last_heard_ms' | 'unreadable' | 'unreadable_reason'> = {
    state: 'connecting',
    since_ms: Date.now(),
    last_event_ms: null,
    reconnects: 0,
    gaps: [],
  }

  get health() {
    return this.#health
  }

  get isLive(): boolean {
    return this.#health.state === 'live'
  }

  /** An eviction was reported or is over. */
  heardEvent(): void {
    this.#health = { ...this.#health, last_event_ms: Date.now() }
  }

  /** Nobody listens from now on. What is reported meanwhile is missed, as while the service is away. */
  leave(): void {
    if (this.isLive) {
      this.#lostMs = Date.now()
      this.#health = { ...this.#health, since_ms: this.#lostMs }
    }
    this.#health = { ...this.#health, state: 'connecting' }
  }

  /** False when the watch was in this state before. */
  enter({ state, since_ms: upstreamMs, attempt }: EvictionStreamState): boolean {
    const { state: before, reconnects, gaps } = this.#health
    // The stream may be older than those who listen to it.
    const since_ms = before === 'connecting' && state === 'live' ? Date.now() : upstreamMs
    const isFirstTry = before === 'connecting' && state === 'retrying' && attempt === 0
    if (state === before || isFirstTry) return false
    if (before === 'live') this.#lostMs = since_ms
    const from_ms = state === 'live' ? this.#lostMs : undefined
    const isBack = from_ms !== undefined
    this.#health = {
      ...this.#health,
      state,
      since_ms,
      reconnects: isBack ? reconnects + 1 : reconnects,
      gaps: isBack ? [{ from_ms, to_ms: since_ms }, ...gaps].slice(0, maxGaps) : gaps,
    }
    return true
  }
}
