import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { StringMap } from '#lib/contract/common.ts'
import { type Clause, type CommonFilter, commonClauses, maxPageBytes, sqlOf, type Value, valuesOf } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createMetadataIndex } from './metadata.ts'

interface Row {
  seq: number
  id: string
  account: string
}

type Fields<R> = { [K in keyof R]?: R[K] | undefined }

interface Options<R extends Row, T> {
  json: readonly (keyof R & string)[]
  flags?: readonly (keyof R & string)[]
  metadata?: string
  /** Whether the row's metadata is indexed. Default: always. */
  isListed?: (row: R) => boolean
  view: (row: R) => T
}

interface PageQuery extends CommonFilter {
  limit: number
  include_total_count: boolean
}

export interface Page<T> {
  items: T[]
  has_more: boolean
  total_count: number | null
}

export const createTable = <R extends Row, T>(
  database: Database,
  table: string,
  { json, flags = [], metadata, isListed = () => true, view }: Options<R, T>,
) => {
  const byId = database.prepare(`SELECT * FROM ${table} WHERE id = ?`)
  const columnNames = new Set(byId.columns().map(({ name }) => name))
  const isJson = new Set<string>(json)
  const index = metadata === undefined ? undefined : createMetadataIndex(database, metadata)

  const toRow = (columns: Record<string, SQLOutputValue>): R => {
    const row: Record<string, unknown> = { ...columns }
    for (const name of json) if (row[name] !== null) row[name] = JSON.parse(row[name] as string)
    for (const name of flags) row[name] = row[name] === 1
    return row as unknown as R
  }
  const toColumn = (name: string, value: unknown): SQLInputValue => {
    if (isJson.has(name) && value !== null) return JSON.stringify(value)
    return typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)
  }
  const toColumns = (fields: Fields<R>): Record<string, SQLInputValue> =>
    Object.fromEntries(
      Object.entries(fields)
        .filter(([name, value]) => columnNames.has(name) && value !== undefined)
        .map(([name, value]) => [name, toColumn(name, value)]),
    )
  const all = (clauses: readonly Clause[], rest = ''): R[] =>
    database
      .prepare(`SELECT * FROM ${table} WHERE ${sqlOf(clauses)} ${rest}`)
      .all(...valuesOf(clauses))
      .map(toRow)

  /** The newest rows: up to `limit`, fewer if they are large. */
  const page = (clauses: readonly Clause[], limit: number) => {
    const rows: R[] = []
    let bytes = 0
    const found = database.prepare(
      `SELECT * FROM ${table} WHERE ${sqlOf(clauses)} ORDER BY seq DESC LIMIT ${limit + 1}`,
    )
    for (const columns of found.iterate(...valuesOf(clauses))) {
      for (const column of Object.values(columns)) if (typeof column === 'string') bytes += column.length
      if (rows.length === limit || (rows.length > 0 && bytes > maxPageBytes)) return { rows, hasMore: true }
      rows.push(toRow(columns))
    }
    return { rows, hasMore: false }
  }

  const find = (id: string): R | undefined => {
    const found = byId.get(id)
    return found && toRow(found)
  }
  const own = (account: string, id: string): R | undefined => {
    const row = find(id)
    return row?.account === account ? row : undefined
  }

  /** Writes fields that do not affect the metadata index; `update` writes any field. */
  const set = (id: string, fields: Fields<R>): void => {
    const columns = toColumns(fields)
    const changes = Object.keys(columns).map((name) => `${name} = :${name}`)
    if (changes.length > 0)
      database.prepare(`UPDATE ${table} SET ${changes.join(', ')} WHERE id = :row`).run({ ...columns, row: id })
  }

  const changeIndex = (change: 'add' | 'remove', row: R) => {
    if (isListed(row)) index?.[change](row.account, row.seq, (row as { metadata?: StringMap }).metadata ?? {})
  }

  return {
    find,
    own,
    set,

    mustFind: (id: string): R => {
      const row = find(id)
      if (!row) throw new Error(`No ${id} in table ${table}`)
      return row
    },

    get: (account: string, id: string): T | undefined => {
      const row = own(account, id)
      return row && view(row)
    },

    position: (account: string, id: string): number | undefined => own(account, id)?.seq,

    where: (sql: string, ...values: Value[]): R[] => all([{ sql, values }], 'ORDER BY seq'),

    insert: (fields: Fields<R> & Pick<R, 'id'>): R =>
      inTransaction(database, () => {
        const columns = toColumns(fields)
        const names = Object.keys(columns)
        const values = names.map((name) => `:${name}`).join(', ')
        database.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${values})`).run(columns)
        const row = find(fields.id) as R
        changeIndex('add', row)
        return row
      }),

    update: (row: R, fields: Fields<R>): void =>
      inTransaction(database, () => {
        set(row.id, fields)
        changeIndex('remove', row)
        changeIndex('add', find(row.id) as R)
      }),

    /** Matching rows of the account, newest first. `before` is the position of the last row of the previous page. */
    list: (account: string, query: PageQuery, before?: number, more: readonly Clause[] = []): Page<T> => {
      const { limit, include_total_count } = query
      const where = [...commonClauses(table, account, query, metadata), ...more]
      const rest = before === undefined ? [] : [{ sql: `${table}.seq < ?`, values: [before] }]
      const { rows, hasMore } = page([...where, ...rest], limit)
      const count = database.prepare(`SELECT count(*) AS total FROM ${table} WHERE ${sqlOf(where)}`)
      return {
        items: rows.map(view),
        has_more: hasMore,
        total_count: include_total_count ? (count.get(...valuesOf(where)) as { total: number }).total : null,
      }
    },

    metadataKeys: (account: string): string[] => index?.keys(account) ?? [],
    metadataValues: (account: string, key: string): string[] => index?.values(account, key) ?? [],
  }
}
