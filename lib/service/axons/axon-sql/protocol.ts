import type { AxonListRequest } from '#lib/service/store/axons/lists.ts'

/** What the service and the processes that run SQL say to each other. */

export type SqlValue = null | number | bigint | string | Uint8Array

export interface SqlRequest {
  /** The axon's place in the database of the service, which holds its events. */
  seq: number
  file: string
  statements: { sql: string; params: SqlValue[] }[]
  kind: 'query' | 'batch'
  isReadOnly: boolean
}

export type ProcessRequest = SqlRequest | ({ kind: 'list' } & AxonListRequest)

export type SqlAnswer =
  /** The JSON of a SqlResult, a SqlBatchResult or an AxonList. */
  | { json: Uint8Array }
  /** A query that SQLite refused. */
  | { refusal: string; errcode: number }
  /** What is no fault of the statement. */
  | { failure: string }

/** The signal that a process ends itself with when what it runs took too much memory. */
export const tookTooMuchMemory = 'SIGUSR2'
/** Unspecified: how long the statements of one call may run. */
export const maxRunMs = 5_000
/** Bringing the events up to date has its own time; what was done when it is over stays. */
export const maxCopyMs = 60_000
/** Unspecified: how long a list of axons may take. */
export const maxListMs = 60_000
/** Unspecified: how large a database may become, without its copy of the events. */
export const maxDatabaseBytes = 256 * 1024 * 1024
/** Unspecified: how much a call may answer; `rows_read_limit_reached` says that there was more. */
export const maxRows = 10_000
export const maxAnswerBytes = 16 * 1024 * 1024
