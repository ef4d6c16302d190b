import type { Eviction } from '#lib/contract/evictions.ts'

/** `attempt` counts the connections that failed since the stream was last live. */
export interface RelayUpstream {
  state: 'live' | 'retrying' | 'refused'
  since_ms: number
  attempt: number
  /** When it is tried again, where the service has said so. */
  retry_at_ms?: number
}

/** The events of `GET /api/evictions` by name. */
export interface RelayData {
  /** First on every connection, and again when a slow reader has missed something: it replaces all that came before. */
  snapshot: { evictions: Eviction[]; upstream: RelayUpstream }
  /** New, or with another deadline than before. */
  eviction: Eviction
  /** Its deadline passed over a minute ago, or the service no longer reports it. */
  removed: Pick<Eviction, 'devbox_id'>
  upstream: RelayUpstream
  /** Every 15 s: tells a quiet stream from a dead one, and the page's clock from the server's. */
  heartbeat: { now_ms: number }
  /** Last on a connection that the console ends. */
  bye: { reason: 'signed out' | 'restarting' }
}

type RelayEventOf<Name extends keyof RelayData> = { [Each in Name]: { event: Each; data: RelayData[Each] } }[Name]
/** What is told of the evictions. */
export type RelayEvent = RelayEventOf<Exclude<keyof RelayData, 'bye'>>
export type RelayBye = RelayEventOf<'bye'>
