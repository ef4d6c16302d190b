import type { Database } from './database.ts'

export interface TerminalRecord {
  id: string
  account: string
  devbox_id: string
  name: string
}

/** Terminal sessions in devboxes that outlive the service. */
export const createTerminalStore = (database: Database) => {
  const insert = database.prepare(
    'INSERT INTO terminals (id, account, devbox_id, name) VALUES (:id, :account, :devbox_id, :name)',
  )
  const remove = database.prepare('DELETE FROM terminals WHERE id = ?')
  const of = database.prepare('SELECT * FROM terminals WHERE devbox_id = ?')
  const all = database.prepare('SELECT * FROM terminals')
  return {
    insert: (record: TerminalRecord): void => void database.forCommand(() => insert.run({ ...record })),
    remove: (id: string): void => void database.essential(() => remove.run(id)),
    of: (devboxId: string) => of.all(devboxId) as unknown as TerminalRecord[],
    /** Removes those of other devboxes. */
    keepOnly(devboxIds: { has(devboxId: string): boolean }): void {
      for (const { id, devbox_id } of all.all() as unknown as TerminalRecord[])
        if (!devboxIds.has(devbox_id)) remove.run(id)
    },
  }
}

export type TerminalStore = ReturnType<typeof createTerminalStore>
