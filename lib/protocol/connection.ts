import type { SessionView } from './session.ts'

/** Answer of `GET` and `POST /api/connection`: how this console reaches its service, asked for at this moment. */
export interface ConnectionView {
  account: SessionView['account']
  service: SessionView['service']
  /** The last characters of the key that is in use, never more than a quarter of it. */
  key_tail: string
  console_version: string
  /** Of the console's clock, when it answered. */
  now_ms: number
  /** How long the service took to answer the console, and its version where it tells one; else why it did not answer. */
  upstream: { took_ms: number; version: string | null } | { problem: UpstreamProblem; detail: string }
  /** WebSockets of this session that arrived as plain requests, because something on the way took Upgrade out. */
  stripped_upgrades: number
}

export type UpstreamProblem = 'away' | 'frozen' | 'tls' | 'key-refused' | 'not-a-service'

/** What `/api/terminals/check` sends back as it came, as far as a WebSocket carries what a terminal sends. */
export const checkSocketPath = '/api/terminals/check'

/** The stream of the check says its first word at once and its last so much later: what comes together was held back. */
export const checkStreamPauseMs = 1_200
