import type { Eviction } from '#lib/contract/evictions.ts'

/** `attempt` counts failed connections since the stream was last live. */
export interface EvictionStreamState {
  state: 'live' | 'retrying' | 'refused'
  since_ms: number
  attempt: number
  /** The next attempt, if the service set a time. */
  retry_at_ms?: number
}

/** Every pending eviction, and whether the list is current. */
export interface EvictionSnapshot {
  evictions: Eviction[]
  upstream: EvictionStreamState
}

export type EvictionEvent =
  /** New, or with a changed deadline. */
  | { event: 'eviction'; data: Eviction }
  /** The deadline passed over a minute ago, or the service no longer reports it. */
  | { event: 'removed'; data: Pick<Eviction, 'devbox_id'> }
  | { event: 'upstream'; data: EvictionStreamState }

export interface EvictionListener {
  /** Called once, with everything pending. */
  start(snapshot: EvictionSnapshot): void
  onEvent(event: EvictionEvent): void
  /** No more events follow. */
  end(): void
}

/** Watches the evictions of one account. */
export interface EvictionWatch {
  /** The last sign of life of the service's stream. */
  readonly lastHeardMs: number | null
  readonly unreadable: UnreadableEvents
  /** Whether the current connection may still be repeating what was pending before it opened. */
  readonly isReplaying: boolean
  /** Evictions the listener already knows (`known`) stay pending until the service stops repeating them. */
  join(listener: EvictionListener, known?: readonly Eviction[]): void
  leave(listener: EvictionListener): void
  snapshot(): EvictionSnapshot
  deadlineOf(devboxId: string): number | undefined
  /** Reconnects: the service repeats what is pending, and everything else is removed. */
  refresh(): void
  /** Removes an eviction that the service withdrew, which its stream does not report. */
  withdraw(devboxId: string): void
  close(): void
}

/** Events of the service's stream that could not be parsed, since the first watch. */
export interface UnreadableEvents {
  count: number
  /** The latest reason. */
  reason: string | null
}
