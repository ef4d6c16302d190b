import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { AxonEvent, SqlResult } from '#lib/contract/axons.ts'
import { authorize } from './authorizer.ts'
import { maxDatabaseBytes, maxResultBytes, maxRows, type SqlRequest, type SqlValue } from './protocol.ts'

const pageBytes = 4096
const copyRows = 2_000
const copyBytes = 4 * 1024 * 1024

export type ReadEvents = (seq: number, afterSequence: number, limit: number) => Iterable<Omit<AxonEvent, 'axon_id'>>

export class StatementError extends Error {
  readonly index: number
  readonly errcode: number

  constructor(index: number, cause: unknown) {
    const { message, errcode } = cause as Error & { errcode?: number }
    super(message, { cause })
    this.index = index
    this.errcode = errcode ?? 1
  }
}

export class AxonDatabase {
  readonly #database: DatabaseSync
  #isTrusted = true

  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600))
    this.#database = new DatabaseSync(file, {
      timeout: 5_000,
      // A value, and so a row, is at most as large as a result.
      limits: { attach: 0, length: maxResultBytes, sqlLength: 1024 * 1024, likePatternLength: 1_000 },
    })
    this.#database.setAuthorizer((action, first, second, schema) =>
      this.#isTrusted ? 0 : authorize(action, first, second, schema),
    )
    // Temporary data stays in memory, which is limited for the process.
    this.#database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;
      CREATE TABLE IF NOT EXISTS rl_axon_events (
        sequence INTEGER PRIMARY KEY, timestamp_ms INTEGER NOT NULL, origin TEXT NOT NULL, source TEXT NOT NULL,
        event_type TEXT NOT NULL, payload TEXT NOT NULL
      ) STRICT;
      CREATE TABLE IF NOT EXISTS rl_copied (bytes INTEGER NOT NULL) STRICT;
      INSERT INTO rl_copied SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM rl_copied)`)
  }

  close() {
    this.#database.close()
  }

  needsEvents({ statements }: SqlRequest): boolean {
    const inSchema = `SELECT 1 FROM sqlite_master WHERE sql LIKE '%rl\\_axon\\_events%' ESCAPE '\\' AND name <> 'rl_axon_events'`
    return (
      statements.some(({ sql }) => /rl_axon_events/i.test(sql)) || this.#database.prepare(inSchema).get() !== undefined
    )
  }

  /** Copies new events in batches, so that a timeout keeps the finished ones. */
  copyEvents(seq: number, read: ReadEvents) {
    this.#database.exec('PRAGMA synchronous = NORMAL; PRAGMA max_page_count = 4294967294')
    const insert = this.#database.prepare('INSERT INTO rl_axon_events VALUES (?, ?, ?, ?, ?, ?)')
    const count = this.#database.prepare('UPDATE rl_copied SET bytes = bytes + ?')
    const lastCopied = this.#database.prepare('SELECT coalesce(max(sequence), 0) AS last FROM rl_axon_events')
    let { last } = lastCopied.get() as { last: number }
    for (let rows = 1; rows > 0; ) {
      rows = 0
      let bytes = 0
      this.#database.exec('BEGIN IMMEDIATE')
      try {
        for (const { sequence, timestamp_ms, origin, source, event_type, payload } of read(seq, last, copyRows)) {
          insert.run(sequence, timestamp_ms, origin, source, event_type, payload)
          last = sequence
          rows++
          bytes += 3 * payload.length + 1_000
          if (bytes > copyBytes) break
        }
        if (rows > 0) count.run(bytes)
        this.#database.exec('COMMIT')
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
        throw error
      }
    }
  }

  run({ statements, isReadOnly }: SqlRequest): SqlResult[] {
    const { bytes } = this.#database.prepare('SELECT bytes FROM rl_copied').get() as { bytes: number }
    this.#database.exec(
      `PRAGMA synchronous = FULL; PRAGMA max_page_count = ${Math.ceil((bytes + maxDatabaseBytes) / pageBytes)}`,
    )
    this.#database.exec(isReadOnly ? 'PRAGMA query_only = ON; BEGIN' : 'BEGIN IMMEDIATE')
    let index = 0
    try {
      const budget = { bytes: maxResultBytes }
      const results: SqlResult[] = []
      for (; index < statements.length; index++) {
        const { sql, params } = statements[index] ?? { sql: '', params: [] }
        results.push(this.#runOne(sql, params, budget))
      }
      index--
      this.#database.exec('COMMIT')
      return results
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw new StatementError(index, error)
    } finally {
      this.#isTrusted = true
      if (isReadOnly) this.#database.exec('PRAGMA query_only = OFF')
    }
  }

  #runOne(sql: string, params: SqlValue[], budget: { bytes: number }): SqlResult {
    const start = performance.now()
    this.#isTrusted = false
    try {
      const statement = this.#database.prepare(sql)
      requireOneStatement(sql, statement)
      statement.setReadBigInts(true)
      const columns = statement.columns().map(({ name, type }) => ({ name: name ?? '', type: typeName(type) }))
      for (const { name } of columns) budget.bytes -= name.length + 32
      if (budget.bytes < 0) throw new Error(`the result is larger than ${maxResultBytes / 1024 / 1024} MiB`)
      const rows: unknown[][] = []
      let isLimited = false
      const before = this.#totalChanges()
      if (columns.length === 0) statement.run(...params)
      else {
        statement.setReturnArrays(true)
        for (const row of statement.iterate(...params) as Iterable<unknown>) {
          const values = (row as SqlValue[]).map(toJson)
          for (const value of values) budget.bytes -= sizeOf(value)
          if (rows.length >= maxRows || budget.bytes < 0) {
            isLimited = true
            break
          }
          rows.push(values)
        }
      }
      if (/\balter\b/i.test(sql)) this.#rejectReservedNames()
      // SQLite's changes() would still count the previous write after a read.
      const changes = this.#totalChanges() - before
      const durationMs = Math.round((performance.now() - start) * 1000) / 1000
      return { columns, rows, meta: { changes, duration_ms: durationMs, rows_read_limit_reached: isLimited } }
    } finally {
      this.#isTrusted = true
    }
  }

  /** SQLite does not pass the new name of a table to the authorizer. */
  #rejectReservedNames() {
    const found = `SELECT 1 FROM sqlite_master WHERE name LIKE 'rl\\_%' ESCAPE '\\' AND name NOT IN ('rl_axon_events', 'rl_copied')`
    if (this.#database.prepare(found).get()) throw new Error('not authorized')
  }

  #totalChanges(): number {
    return (this.#database.prepare('SELECT total_changes() AS total').get() as { total: number }).total
  }
}

/** SQLite would silently ignore further statements. */
const requireOneStatement = (sql: string, { sourceSQL }: StatementSync) => {
  const rest = sql.slice(sourceSQL.length)
  for (const match of rest.matchAll(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[^;\s]/g))
    if (!match[0].startsWith('--') && !match[0].startsWith('/*'))
      throw new Error('only one statement is allowed; use a batch for several')
}

/** Follows SQLite's rules of column affinity. */
const typeName = (declared: string | null): string => {
  const type = declared?.toUpperCase() ?? ''
  if (type.includes('INT')) return 'INTEGER'
  if (/CHAR|CLOB|TEXT/.test(type)) return 'TEXT'
  if (type.includes('BLOB')) return 'BLOB'
  return /REAL|FLOA|DOUB/.test(type) ? 'REAL' : ''
}

/** Unspecified: blobs are `{"base64": …}`, as in parameters. Unsafe integers and infinite numbers are text. */
const toJson = (value: SqlValue): unknown => {
  if (typeof value === 'bigint')
    return BigInt.asIntN(54, value) === value && Number.isSafeInteger(Number(value)) ? Number(value) : value.toString()
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value
}

const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value)) + 8
  return typeof value === 'object' && value !== null ? (value as { base64: string }).base64.length + 16 : 16
}
