import type { Database } from './database.ts'

/** Finds the rows of a table by their ids, which are unique over all accounts. */
export const createRows = <Row extends { account: string }>(database: Database, table: string) => {
  const byId = database.prepare(`SELECT * FROM ${table} WHERE id = ?`)
  const find = (id: string) => byId.get(id) as Row | undefined
  const own = (account: string, id: string): Row | undefined => {
    const row = find(id)
    return row?.account === account ? row : undefined
  }
  const known = (id: string): Row => {
    const row = find(id)
    if (!row) throw new Error(`There is no ${id} in the table ${table}`)
    return row
  }
  return { find, own, known }
}
