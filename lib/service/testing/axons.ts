import type { Axon } from '#lib/contract/axons.ts'
import { type Database, inTransaction } from '#lib/service/store/database.ts'

export const fillAxons = (database: Database, account: string, axons: readonly Axon[]): void => {
  const insert = database.prepare(
    'INSERT INTO axons (id, account, name, created_at_ms, metadata) VALUES (?, ?, ?, ?, ?)',
  )
  const search = database.prepare(
    `INSERT INTO axon_search (rowid, account, id, name)
     SELECT ?, account_tag(number), search_text(?), search_text(?) FROM axon_accounts WHERE account = ?`,
  )
  const pair = database.prepare('INSERT INTO axon_metadata (account, key, value, seq) VALUES (?, ?, ?, ?)')
  inTransaction(database, () => {
    database.prepare('INSERT OR IGNORE INTO axon_accounts (account) VALUES (?)').run(account)
    const pairs = axons.flatMap(({ id, name = null, created_at_ms, metadata }) => {
      const seq = Number(insert.run(id, account, name, created_at_ms, JSON.stringify(metadata)).lastInsertRowid)
      search.run(seq, id, name, account)
      return Object.entries(metadata).map(([key, value]) => ({ key, value, seq }))
    })
    // Inserting in index order is fastest.
    pairs.sort((a, b) => compare(a.key, b.key) || compare(a.value, b.value) || a.seq - b.seq)
    for (const { key, value, seq } of pairs) pair.run(account, key, value, seq)
  })
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
