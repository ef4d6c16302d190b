import type { AlertStreamHealth } from '#lib/protocol/alerts.ts'

const maxGaps = 20

/** Tracks the state of an account's eviction stream and its gaps. */
export class WatchHealth {
  /** Undefined before it was first live. */
  #lostMs: number | undefined
  readonly #startedMs = Date.now()
  health: Omit<AlertStreamHealth, 'last_heard_ms' | 'unreadable' | 'unreadable_reason'> = {
    state: 'connecting',
    since_ms: Date.now(),
    last_event_ms: null,
    reconnects: 0,
    gaps: [],
  }

  get isLive(): boolean {
    return this.health.state === 'live'
  }

  /** When the stream was lost or first requested; undefined while it is live. */
  get lostMs(): number | undefined {
    return this.isLive ? undefined : (this.#lostMs ?? this.#startedMs)
  }

  onEvent(): void {
    this.health = { ...this.health, last_event_ms: Date.now() }
  }

  /** `connecting`: there is no connection, so events are missed until the next one. */
  setState(state: AlertStreamHealth['state']): void {
    const { state: before, reconnects, gaps } = this.health
    if (state === before) return
    const since_ms = Date.now()
    if (before === 'live') this.#lostMs = since_ms
    const from_ms = state === 'live' ? this.#lostMs : undefined
    const isBack = from_ms !== undefined
    this.health = {
      ...this.health,
      state,
      since_ms,
      reconnects: isBack ? reconnects + 1 : reconnects,
      gaps: isBack ? [{ from_ms, to_ms: since_ms }, ...gaps].slice(0, maxGaps) : gaps,
    }
  }
}
