import type { AlertStreamHealth } from '#lib/wire/alerts.ts'
import type { RelayUpstream } from '#lib/wire/evictions.ts'

const maxGaps = 20

/** How an account's watch of evictions has fared: since when it is as it is, and when it was away. */
export class WatchHealth {
  #hasBeenLive = false
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

  /** An eviction was told, or that one is over. */
  heardEvent(): void {
    this.#health = { ...this.#health, last_event_ms: Date.now() }
  }

  /** Nobody listens from now on: what is told meanwhile is missed, as in a time in which the service is away. */
  leave(): void {
    if (this.isLive) this.#health = { ...this.#health, since_ms: Date.now() }
    this.#health = { ...this.#health, state: 'connecting' }
  }

  /** False when the watch was in this state before. */
  enter({ state, since_ms: upstreamMs, attempt }: RelayUpstream): boolean {
    const { state: before, since_ms: sinceMs, reconnects, gaps } = this.#health
    // The stream may be older than those who listen to it.
    const since_ms = before === 'connecting' && state === 'live' ? Date.now() : upstreamMs
    const isFirstTry = before === 'connecting' && state === 'retrying' && attempt === 0
    if (state === before || isFirstTry) return false
    const isBack = state === 'live' && this.#hasBeenLive
    this.#health = {
      ...this.#health,
      state,
      since_ms,
      reconnects: isBack ? reconnects + 1 : reconnects,
      gaps: isBack ? [{ from_ms: sinceMs, to_ms: since_ms }, ...gaps].slice(0, maxGaps) : gaps,
    }
    this.#hasBeenLive ||= this.isLive
    return true
  }
}
