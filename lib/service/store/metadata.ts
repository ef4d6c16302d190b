import type { StringMap } from '#lib/contract/common.ts'
import type { Database } from './database.ts'

export const createMetadataIndex = (database: Database, table: string) => {
  const insert = database.prepare(`INSERT INTO ${table} (account, key, value, seq) VALUES (?, ?, ?, ?)`)
  const remove = database.prepare(`DELETE FROM ${table} WHERE account = ? AND key = ? AND value = ? AND seq = ?`)
  const keys = database.prepare(metadataKeysSql(table))
  const values = database.prepare(metadataValuesSql(table))
  return {
    add: (account: string, seq: number | bigint, metadata: StringMap): void => {
      for (const [key, value] of Object.entries(metadata)) insert.run(account, key, value, seq)
    },
    remove: (account: string, seq: number | bigint, metadata: StringMap): void => {
      for (const [key, value] of Object.entries(metadata)) remove.run(account, key, value, seq)
    },
    /** Sorted. Unspecified: at most 10,000 keys, and values of a key. */
    keys: (account: string): string[] => keys.all({ account }).map(({ text }) => text as string),
    values: (account: string, key: string): string[] => values.all({ account, key }).map(({ text }) => text as string),
  }
}

// Jumps from one distinct value to the next in the index, however many records share it.
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
