import type { SessionView } from './session.ts'

/** Response of `/api/connection`: the console's connection to its service, checked on request. */
export interface ConnectionView {
  account: SessionView['account']
  service: SessionView['service']
  /** Last characters of the API key, at most a quarter of it. */
  key_tail: string
  console_version: string
  /** Round trip and version of the service, or why it did not respond. */
  upstream: { took_ms: number; version: string | null } | { problem: UpstreamProblem; detail: string }
  /** WebSockets of this session that arrived without Upgrade, removed by an intermediary. */
  stripped_upgrades: number
}

export type UpstreamProblem = 'away' | 'frozen' | 'tls' | 'key-refused' | 'not-a-service'

export const checkSocketPath = '/api/terminals/check'

// The check stream sends a first event at once and a last one after this pause. If both arrive together, an
// intermediary buffers.
export const checkStreamPauseMs = 1_200
