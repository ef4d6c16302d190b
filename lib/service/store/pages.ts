import { type Clause, sqlOf, type Value, valuesOf } from './clauses.ts'
import type { Database } from './database.ts'

interface PageQuery {
  limit: number
  include_total_count: boolean
}

export interface Page<T> {
  items: T[]
  has_more: boolean
  total_count: number | null
}

/** One page of a table that has `seq`, newest first; `before` is the seq of the last record already seen. */
export const readPage = <Row, T>(
  database: Database,
  table: string,
  where: readonly Clause[],
  { limit, include_total_count }: PageQuery,
  before: number | undefined,
  toView: (row: Row) => T,
): Page<T> => {
  const rest: readonly Clause[] =
    before === undefined ? where : [...where, { sql: `${table}.seq < ?`, values: [before] as Value[] }]
  const rows = database
    .prepare(`SELECT * FROM ${table} WHERE ${sqlOf(rest)} ORDER BY seq DESC LIMIT ?`)
    .all(...valuesOf(rest), limit + 1) as Row[]
  const count = () =>
    database.prepare(`SELECT count(*) AS total FROM ${table} WHERE ${sqlOf(where)}`).get(...valuesOf(where)) as {
      total: number
    }
  return {
    items: rows.slice(0, limit).map(toView),
    has_more: rows.length > limit,
    total_count: include_total_count ? count().total : null,
  }
}

/** The condition on a column, or none where the query does not ask for one. */
export const equals = (column: string, value: Value | undefined): Clause[] =>
  value === undefined ? [] : [{ sql: `${column} = ?`, values: [value] }]

export const toJson = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value)
export const fromJson = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T))
