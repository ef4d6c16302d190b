import type { Database } from './database.ts'

export interface StoredDrain {
  node_id: string
  deadline_ms: number
}

export const createNodeDrainStore = (database: Database) => {
  const put = database.prepare('INSERT OR REPLACE INTO node_drains (node_id, deadline_ms) VALUES (?, ?)')
  const remove = database.prepare('DELETE FROM node_drains WHERE node_id = ?')
  const all = database.prepare('SELECT node_id, deadline_ms FROM node_drains ORDER BY node_id')
  return {
    put: ({ node_id, deadline_ms }: StoredDrain): void => void put.run(node_id, deadline_ms),
    remove: (nodeId: string): void => database.essential(() => void remove.run(nodeId)),
    all: () => all.all() as unknown as StoredDrain[],
  }
}

export type NodeDrainStore = ReturnType<typeof createNodeDrainStore>
