import type { AxonEvent } from '#lib/contract/axons.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import type { OutputChunk } from '#lib/contract/executions.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import type { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import type { AlertItem } from './alerts.ts'

// Messages between a page and the console over `/api/live`, the page's one WebSocket for everything live. Each frame
// is a JSON text; the page numbers its subscriptions.

export interface LiveItems {
  'alerts.watch': AlertItem
  'executions.streamStdout': OutputChunk
  'executions.streamStderr': OutputChunk
  'logs.tail': LogRecord
  'axons.subscribe': AxonEvent
  // Polled by the console; each changed response is an item.
  'benchmarkJobs.get': BenchmarkJob
  'benchmarkRuns.get': BenchmarkRun
  'benchmarkRuns.scenarioRuns': ScenarioRunList
}
export type LiveEndpoint = keyof LiveItems

export interface LiveTopic<E extends LiveEndpoint = LiveEndpoint> {
  endpoint: E
  params?: Record<string, string>
  query?: Record<string, string | number | boolean>
}

export type LiveRequest =
  /** Resumes after `position`, or starts from the beginning. */
  | { t: 'subscribe'; id: number; topic: LiveTopic; position?: string }
  | { t: 'unsubscribe'; id: number }
  /** The page has processed data frames of `n` characters since the last ack. */
  | { t: 'ack'; n: number }

/** `late`: nothing heard for a while. `lost`: disconnected; it reconnects and resumes at the last position. */
export type LiveState = 'live' | 'late' | 'lost'

export interface LiveError {
  code: string
  status: number
  message: string
  request_id?: string
  /** Next attempt, if the service set a time. */
  retry_at_ms?: number
}

export type LiveNotice =
  /** `position` after these items: bytes for output, the last sequence for events, otherwise opaque. */
  | { t: 'data'; id: number; position: string; items: unknown[] }
  /** `error` is set when lost. Times are in console time. */
  | { t: 'state'; id: number; state: LiveState; since_ms: number; error?: LiveError }
  /** Drops everything after `position`; it is sent again. */
  | { t: 'resync'; id: number; position: string }
  /** No more items follow; with `error`, retrying cannot help. */
  | { t: 'end'; id: number; error?: LiveError }
  /** Sent at once and every few seconds, as a sign of life and to sync clocks. */
  | { t: 'heartbeat'; now_ms: number }

/** Response of `GET /api/live/now`, polled by pages that cannot open a WebSocket. */
export interface LiveSnapshot {
  now_ms: number
  topics: {
    'alerts.watch': { state: LiveState; since_ms: number; error?: LiveError; item: LiveItems['alerts.watch'] }
  }
}

export const liveClose = {
  /** Invalid frame or topic; the reason says which. */
  invalid: 4400,
  signedOut: 4401,
  tooMany: 4429,
  consoleRestarting: 1012,
} as const
