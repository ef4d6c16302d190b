import type { Eviction } from '#lib/contract/evictions.ts'
import type { Database } from './database.ts'

export interface StoredEviction extends Omit<Eviction, 'node'> {
  account: string
}

export const createEvictionStore = (database: Database) => {
  const put = database.prepare(
    'INSERT OR REPLACE INTO evictions (devbox_id, account, eviction_deadline_ms) VALUES (?, ?, ?)',
  )
  const remove = database.prepare('DELETE FROM evictions WHERE devbox_id = ?')
  const all = database.prepare(
    'SELECT devbox_id, account, eviction_deadline_ms FROM evictions ORDER BY eviction_deadline_ms, devbox_id',
  )
  return {
    put: ({ devbox_id, account, eviction_deadline_ms }: StoredEviction): void =>
      void put.run(devbox_id, account, eviction_deadline_ms),
    remove: (devboxId: string): boolean => database.essential(() => remove.run(devboxId).changes > 0),
    all: () => all.all() as unknown as StoredEviction[],
  }
}

export type EvictionStore = ReturnType<typeof createEvictionStore>
