import type { Axon, AxonCreate } from '#lib/contract/axons.ts'
import type { StringMap } from '#lib/contract/common.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { type Database, inTransaction } from '../database.ts'
import { createMetadataIndex } from '../metadata.ts'

interface AxonRow {
  seq: number
  id: string
  name: string | null
  created_at_ms: number
  deleted_at_ms: number | null
  metadata: string
}

export type AxonStore = ReturnType<typeof createAxonStore>

/** The records of axons. Their lists are read in a process of their own, see axon-lists.ts. */
export const createAxonStore = (database: Database) => {
  const metadataIndex = createMetadataIndex(database, 'axon_metadata')
  const number = database.prepare('SELECT number FROM axon_accounts WHERE account = ?')
  const addAccount = database.prepare('INSERT INTO axon_accounts (account) VALUES (?)')
  const select = database.prepare(
    'SELECT seq, id, name, created_at_ms, deleted_at_ms, metadata FROM axons WHERE id = ? AND account = ?',
  )
  const insert = database.prepare(
    'INSERT INTO axons (id, account, name, created_at_ms, metadata) VALUES (?, ?, ?, ?, ?)',
  )
  const insertSearch = database.prepare(
    'INSERT INTO axon_search (rowid, account, id, name) VALUES (?, account_tag(?), search_text(?), search_text(?))',
  )
  const updateMetadata = database.prepare('UPDATE axons SET metadata = ? WHERE seq = ?')
  const markDeleted = database.prepare(
    'UPDATE axons SET deleted_at_ms = coalesce(deleted_at_ms, ?) WHERE id = ? AND account = ?',
  )

  const versions = new Map<string, number>()
  const versionOf = (account: string) => versions.get(account) ?? 0
  const changed = (account: string) => versions.set(account, versionOf(account) + 1)

  const find = (account: string, id: string): { seq: number; axon: Axon } | undefined => {
    const row = select.get(id, account) as AxonRow | undefined
    if (!row) return undefined
    const { seq, ...axon } = row
    return { seq, axon: { ...axon, metadata: JSON.parse(axon.metadata) } }
  }

  /** The number that stands for the account in the search index. */
  const numberOf = (account: string): number =>
    (number.get(account) as { number: number } | undefined)?.number ?? Number(addAccount.run(account).lastInsertRowid)

  return {
    /** The place of an axon in its account's order, for a list to go on from; undefined when there is no such axon. */
    position: (account: string, id: string): number | undefined =>
      (select.get(id, account) as AxonRow | undefined)?.seq,

    /** Another one after each change of the account's axons that a filter may see. */
    version: versionOf,

    get: (account: string, id: string): Axon | undefined => find(account, id)?.axon,

    create: (account: string, { name, metadata }: AxonCreate, now: number): Axon => {
      const axon: Axon = {
        id: newId('axn'),
        name: name ?? null,
        created_at_ms: now,
        deleted_at_ms: null,
        metadata: metadata ?? {},
      }
      inTransaction(database, () => {
        const added = insert.run(axon.id, account, axon.name ?? null, now, JSON.stringify(axon.metadata))
        const seq = Number(added.lastInsertRowid)
        insertSearch.run(seq, numberOf(account), axon.id, axon.name ?? null)
        metadataIndex.add(account, seq, axon.metadata)
      })
      changed(account)
      return axon
    },

    /** Replaces the metadata whole. Undefined when there is no such axon. */
    update: (account: string, id: string, metadata: StringMap): Axon | undefined => {
      const found = find(account, id)
      if (!found) return undefined
      const { seq, axon } = found
      inTransaction(database, () => {
        metadataIndex.remove(account, seq, axon.metadata)
        updateMetadata.run(JSON.stringify(metadata), seq)
        metadataIndex.add(account, seq, metadata)
      })
      changed(account)
      return { ...axon, metadata }
    },

    /** Marks the axon as deleted; the first deletion's time stays. False when there is no such axon. */
    delete: (account: string, id: string, now: number): boolean => markDeleted.run(now, id, account).changes > 0,

    metadataKeys: metadataIndex.keys,
    metadataValues: metadataIndex.values,
  }
}
