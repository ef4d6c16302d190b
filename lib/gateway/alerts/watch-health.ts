import type { AlertStreamHealth } from '#lib/protocol/alerts.ts'
import type { EvictionStreamState } from './eviction-listener.ts'

const maxGaps = 20

/** Tracks the state of an account's eviction stream and its gaps. */
export class WatchHealth {
  /** Undefined before it was first live. */
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

  onEvent(): void {
    this.#health = { ...this.#health, last_event_ms: Date.now() }
  }

  /** Nobody listens anymore; until the next connection, events are missed. */
  leave(): void {
    if (this.isLive) {
      this.#lostMs = Date.now()
      this.#health = { ...this.#health, since_ms: this.#lostMs }
    }
    this.#health = { ...this.#health, state: 'connecting' }
  }

  /** Returns false if the state is unchanged. */
  setState({ state, since_ms: upstreamMs, attempt }: EvictionStreamState): boolean {
    const { state: before, reconnects, gaps } = this.#health
    // The stream may have been live before we listened.
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
