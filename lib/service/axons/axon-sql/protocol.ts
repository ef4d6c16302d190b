import type { AxonListRequest } from '#lib/service/store/axons/lists.ts'

export type SqlValue = null | number | bigint | string | Uint8Array

export interface SqlRequest {
  seq: number
  file: string
  statements: { sql: string; params: SqlValue[] }[]
  kind: 'query' | 'batch'
  isReadOnly: boolean
}

export type ProcessRequest = SqlRequest | ({ kind: 'list' } & AxonListRequest)

export type SqlResponse =
  | { json: Uint8Array }
  | { error: string; errcode: number }
  /** Not caused by the statement. */
  | { failure: string }

export const outOfMemorySignal = 'SIGUSR2'
/** Unspecified: time limit of the statements of a request. */
export const maxRunMs = 5_000
export const maxCopyMs = 60_000
/** Unspecified: time limit of a list of axons. */
export const maxListMs = 60_000
/** Unspecified: maximum size of a database, without its copy of the events. */
export const maxDatabaseBytes = 256 * 1024 * 1024
/** Unspecified: result limits, reported as `rows_read_limit_reached`. */
export const maxRows = 10_000
export const maxResultBytes = 16 * 1024 * 1024
