import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type * as z from 'zod/mini'
import type { StringMap } from '#lib/contract/common.ts'
import {
  allOf,
  type Clause,
  type CommonFilter,
  clause,
  commonClauses,
  maxPageBytes,
  sqlOf,
  type Value,
  valuesOf,
} from './clauses.ts'
import { type Database, inTransaction } from './database.ts'

interface Row {
  seq: number
  id: string
  account: string
}

type Fields<R> = { [K in keyof R]?: R[K] | undefined }

interface Sorting {
  sort?: string | undefined
  order?: 'asc' | 'desc' | undefined
}

interface Options<R extends Row, T> {
  json?: readonly (keyof R & string)[]
  flags?: readonly (keyof R & string)[]
  metadata?: string
  isListed?: (row: R) => boolean
  /** SQL of sort fields that are no columns. */
  sorts?: Readonly<Record<string, string>>
  view: (row: R) => T
}

export interface Page<T> {
  items: T[]
  has_more: boolean
  total_count: number | null
}

/** Returns the fields of a contract schema from a row with columns of the same names. Others are null. */
export const fieldsOf = <S extends z.ZodMiniObject>({ shape }: S) => {
  const names = Object.keys(shape)
  return (row: object): z.output<S> =>
    Object.fromEntries(names.map((name) => [name, (row as Record<string, unknown>)[name] ?? null])) as z.output<S>
}

export const createTable = <R extends Row, T>(
  database: Database,
  table: string,
  { json = [], flags = [], metadata, isListed = () => true, sorts = {}, view }: Options<R, T>,
) => {
  const byId = database.prepare(`SELECT * FROM ${table} WHERE id = ?`)
  const removal = database.prepare(`DELETE FROM ${table} WHERE id = ?`)
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

  const sortValue = (sort: string): string => {
    if (sort === 'name') return `${table}.name COLLATE NOCASE`
    const sql = sorts[sort] ?? (columnNames.has(sort) ? `${table}.${sort}` : undefined)
    if (sql === undefined) throw new Error(`No sort field ${sort} in table ${table}`)
    return sql
  }

  const orderOf = ({ sort, order }: Sorting): string =>
    sort === undefined
      ? `${table}.seq DESC`
      : `${sortValue(sort)} ${order === 'desc' ? 'DESC' : 'ASC'} NULLS LAST, ${table}.seq DESC`

  /** The rows after the one at `seq`. */
  const after = (seq: number, { sort, order }: Sorting): Clause => {
    const newer = clause(`${table}.seq < ?`, seq)
    if (sort === undefined) return newer
    const value = sortValue(sort)
    const last = database.prepare(`SELECT ${value} AS value FROM ${table} WHERE seq = ?`).get(seq)
      ?.value as Value | null
    if (last === null) return allOf([clause(`${value} IS NULL`), newer])
    const beyond = order === 'desc' ? '<' : '>'
    return clause(`(${value} ${beyond} ? OR ${value} IS NULL OR (${value} = ? AND ${newer.sql}))`, ...[last, last, seq])
  }

  /** The first rows: up to `limit`, fewer if they are large. */
  const page = (clauses: readonly Clause[], limit: number, order: string) => {
    const rows: R[] = []
    let bytes = 0
    const sql = `SELECT * FROM ${table} WHERE ${sqlOf(clauses)} ORDER BY ${order} LIMIT ${limit + 1}`
    for (const columns of database.prepare(sql).iterate(...valuesOf(clauses))) {
      for (const column of Object.values(columns)) if (typeof column === 'string') bytes += column.length
      if (rows.length === limit || (rows.length > 0 && bytes > maxPageBytes)) return { rows, has_more: true }
      rows.push(toRow(columns))
    }
    return { rows, has_more: false }
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

    where: (sql: string, ...values: Value[]): R[] =>
      database
        .prepare(`SELECT * FROM ${table} WHERE ${sql} ORDER BY seq`)
        .all(...values)
        .map(toRow),

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

    /** Deletes a row with its metadata. */
    remove: (id: string): void =>
      inTransaction(database, () => {
        const row = find(id)
        if (!row) return
        changeIndex('remove', row)
        removal.run(id)
      }),

    list: (
      account: string,
      query: CommonFilter & Sorting & { limit: number; include_total_count: boolean },
      before?: number,
      more: readonly Clause[] = [],
    ): Page<T> => {
      const where = [...commonClauses(table, account, query, metadata), ...more]
      const rest = before === undefined ? [] : [after(before, query)]
      const { rows, has_more } = page([...where, ...rest], query.limit, orderOf(query))
      const count = () => database.prepare(`SELECT count(*) AS total FROM ${table} WHERE ${sqlOf(where)}`)
      return {
        items: rows.map(view),
        has_more,
        total_count: query.include_total_count ? Number(count().get(...valuesOf(where))?.total) : null,
      }
    },

    metadataKeys: (account: string): string[] => index?.keys(account) ?? [],
    metadataValues: (account: string, key: string): string[] => index?.values(account, key) ?? [],
  }
}

const createMetadataIndex = (database: Database, table: string) => {
  const insert = database.prepare(`INSERT INTO ${table} (account, key, value, seq) VALUES (?, ?, ?, ?)`)
  const remove = database.prepare(`DELETE FROM ${table} WHERE account = ? AND key = ? AND value = ? AND seq = ?`)
  const keys = database.prepare(metadataKeysSql(table))
  const values = database.prepare(metadataValuesSql(table))
  return {
    add: (account: string, seq: number, metadata: StringMap): void => {
      for (const [key, value] of Object.entries(metadata)) insert.run(account, key, value, seq)
    },
    remove: (account: string, seq: number, metadata: StringMap): void => {
      for (const [key, value] of Object.entries(metadata)) remove.run(account, key, value, seq)
    },
    keys: (account: string): string[] => keys.all({ account }).map(({ text }) => text as string),
    values: (account: string, key: string): string[] => values.all({ account, key }).map(({ text }) => text as string),
  }
}

// Sorted. Unspecified: at most 10,000. Jumps from one distinct value to the next, however many records share it.
const distinct = (table: string, column: 'key' | 'value', where: string) => `
  WITH RECURSIVE found (text) AS (
    SELECT min(${column}) FROM ${table} WHERE ${where}
    UNION ALL
    SELECT (SELECT min(${column}) FROM ${table} WHERE ${where} AND ${column} > found.text)
    FROM found WHERE found.text IS NOT NULL LIMIT 10001
  )
  SELECT text FROM found WHERE text IS NOT NULL LIMIT 10000`
export const metadataKeysSql = (table: string) => distinct(table, 'key', 'account = :account')
export const metadataValuesSql = (table: string) => distinct(table, 'value', 'account = :account AND key = :key')
