import type { AxonEvent } from '#lib/contract/axons.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import type { OutputChunk } from '#lib/contract/executions.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import type { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import type { AlertItem } from './alerts.ts'
import type { EvictionEvent, EvictionSnapshot } from './evictions.ts'

/**
 * What a page and the console's server say to each other over `/api/live`, the one WebSocket of a page for everything
 * it follows. Every frame is one JSON text, its kind in `t`. The page numbers its subscriptions.
 */

/** What can be followed, by the id of the contract's endpoint that tells it, and what its items are. */
export interface LiveItems {
  /** Of the console's one watch of the account: a snapshot, then what changes. */
  'evictions.watch': Exclude<EvictionEvent, { event: 'upstream' }> | { event: 'snapshot'; data: EvictionSnapshot }
  /** Of what the console keeps of the account's alerts: everything, then what changes. */
  'alerts.watch': AlertItem
  'executions.streamStdout': OutputChunk
  'executions.streamStderr': OutputChunk
  'logs.tail': LogRecord
  'axons.subscribe': AxonEvent
  // The contract has no stream of these: the console asks again and again, and tells each answer that is another one.
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
  /** `position`: everything up to there is known. Without it a topic begins at its beginning. */
  | { t: 'subscribe'; id: number; topic: LiveTopic; position?: string }
  | { t: 'unsubscribe'; id: number }
  /** The page has taken in data frames of `n` characters since the last one. */
  | { t: 'ack'; n: number }

/**
 * How far what a page shows can be trusted. `late`: nothing is known to be lost, and nothing was heard for a while.
 * `lost`: the way there is broken and is being mended; it goes on at the position where it broke.
 */
export type LiveState = 'live' | 'late' | 'lost'

/** The parts of a failed call that a page can make an `ApiError` of. */
export interface LiveError {
  code: string
  status: number
  message: string
  request_id?: string
  /** When it is tried again, where the service has said so. */
  retry_at_ms?: number
}

export type LiveNotice =
  /**
   * `position` is where the page stands after these items: for output the bytes so far, for events the last sequence;
   * otherwise it means something to the console alone.
   */
  | { t: 'data'; id: number; position: string; items: unknown[] }
  /** `error` says why it is lost. Times are of the console's clock. */
  | { t: 'state'; id: number; state: LiveState; since_ms: number; error?: LiveError }
  /** What the page has after `position` is to be dropped: it comes again, or something else in its place. */
  | { t: 'resync'; id: number; position: string }
  /** Nothing more comes: all is said, or for `error` asking again cannot help. */
  | { t: 'end'; id: number; error?: LiveError }
  /** At once and every few seconds: tells a quiet console from a dead one, and the page's clock from the console's. */
  | { t: 'heartbeat'; now_ms: number }

/** What the console itself keeps, and tells of as a whole. */
type KeptEndpoint = 'evictions.watch' | 'alerts.watch'

/** Answer of `GET /api/live/now`, for pages that no WebSocket reaches: what they would hear first of these topics. */
export interface LiveSnapshot {
  now_ms: number
  topics: { [E in KeptEndpoint]: { state: LiveState; since_ms: number; error?: LiveError; item: LiveItems[E] } }
}

/** Why the console closed the connection. */
export const liveClose = {
  /** A frame that is none, or that asks for what nobody can follow; the reason says which. */
  invalid: 4400,
  signedOut: 4401,
  tooMany: 4429,
  consoleRestarting: 1012,
} as const
