import { Axon, type AxonCreate } from '#lib/contract/axons.ts'
import type { StringMap } from '#lib/contract/common.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { type Database, inTransaction } from '../database.ts'
import { createTable, fieldsOf } from '../table.ts'

export type AxonStore = ReturnType<typeof createAxonStore>

/** Lists are read in a separate process, see lists.ts. */
export const createAxonStore = (database: Database) => {
  const fields = fieldsOf(Axon)
  const table = createTable(database, 'axons', {
    json: ['metadata'],
    metadata: 'axon_metadata',
    view: (row: Axon & { seq: number; account: string }): Axon => fields(row),
  })
  const number = database.prepare('SELECT number FROM axon_accounts WHERE account = ?')
  const addAccount = database.prepare('INSERT INTO axon_accounts (account) VALUES (?)')
  const insertSearch = database.prepare(
    'INSERT INTO axon_search (rowid, account, id, name) VALUES (?, account_tag(?), search_text(?), search_text(?))',
  )
  const versions = new Map<string, number>()
  const versionOf = (account: string) => versions.get(account) ?? 0
  const bumpVersion = (account: string) => versions.set(account, versionOf(account) + 1)

  const numberOf = (account: string): number =>
    Number(number.get(account)?.number ?? addAccount.run(account).lastInsertRowid)

  return {
    ...table,

    /** Changes whenever a filter of the account's axons may match differently. */
    version: versionOf,

    create: (account: string, { name, metadata }: AxonCreate, now: number): Axon => {
      const axon = inTransaction(database, () => {
        const row = table.insert({ id: newId('axn'), account, name, created_at_ms: now, metadata: metadata ?? {} })
        insertSearch.run(row.seq, numberOf(account), row.id, row.name ?? null)
        return fields(row)
      })
      bumpVersion(account)
      return axon
    },

    update: (account: string, id: string, metadata: StringMap): Axon | undefined => {
      const row = table.own(account, id)
      if (!row) return undefined
      table.update(row, { metadata })
      bumpVersion(account)
      return table.get(account, id)
    },

    /** Marks the axon as deleted; repeating it keeps the first time. False if there is no such axon. */
    delete: (account: string, id: string, now: number): boolean => {
      const row = table.own(account, id)
      if (row?.deleted_at_ms === null) table.set(id, { deleted_at_ms: now })
      return row !== undefined
    },
  }
}
