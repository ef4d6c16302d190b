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
