import type { Account } from '#lib/contract/accounts.ts'
import type { Eviction } from '#lib/contract/evictions.ts'

/**
 * What the console's server says to its own pages. No service knows these; they stand here because the gateway
 * writes them and the browser half reads them, and both may import the contract.
 */

/** Answer of `GET` and `POST /api/session`. The key itself is never in it. */
export interface SessionView {
  account: Pick<Account, 'id' | 'name' | 'isolation'>
  service: { url: string; embedded: boolean; isolation?: Account['isolation'] }
}

/** `attempt` counts the connections that failed since the stream was last live. */
export interface RelayUpstream {
  state: 'live' | 'retrying' | 'refused'
  since_ms: number
  attempt: number
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
}
export type RelayEvent = { [Name in keyof RelayData]: { event: Name; data: RelayData[Name] } }[keyof RelayData]
