import type { StringMap } from '#lib/contract/common.ts'
import type { Database } from './database.ts'

/** The index over the metadata of one kind of record; `table` holds (account, key, value, seq). */
export const createMetadataIndex = (database: Database, table: string) => {
  const insert = database.prepare(`INSERT INTO ${table} (account, key, value, seq) VALUES (?, ?, ?, ?)`)
  const remove = database.prepare(`DELETE FROM ${table} WHERE account = ? AND key = ? AND value = ? AND seq = ?`)
  const keys = database.prepare(`SELECT DISTINCT key FROM ${table} WHERE account = ? ORDER BY key`)
  const values = database.prepare(`SELECT DISTINCT value FROM ${table} WHERE account = ? AND key = ? ORDER BY value`)
  return {
    add: (account: string, seq: number | bigint, metadata: StringMap): void => {
      for (const [key, value] of Object.entries(metadata)) insert.run(account, key, value, seq)
    },
    remove: (account: string, seq: number | bigint, metadata: StringMap): void => {
      for (const [key, value] of Object.entries(metadata)) remove.run(account, key, value, seq)
    },
    keys: (account: string): string[] => keys.all(account).map(({ key }) => key as string),
    /** In the order of their text; none for a key nobody has. */
    values: (account: string, key: string): string[] => values.all(account, key).map(({ value }) => value as string),
  }
}
