import type { StringMap } from '#lib/contract/common.ts'
import type {
  Snapshot,
  SnapshotListQuery,
  SnapshotState,
  SnapshotStatus,
  SnapshotUpdate,
} from '#lib/contract/snapshots.ts'
import { type Clause, commonClauses } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createMetadataIndex } from './metadata.ts'
import { equals, type Page, readPage } from './pages.ts'
import { createRows } from './rows.ts'

interface SnapshotRow {
  seq: number
  id: string
  account: string
  source_devbox_id: string
  status: SnapshotStatus
  error_message: string | null
  create_time_ms: number
  name: string | null
  commit_message: string | null
  metadata: string
  size_bytes: number | null
}

export interface NewSnapshot {
  id: string
  account: string
  source_devbox_id: string
  create_time_ms: number
  name: string | null
  commit_message: string | null
  metadata: StringMap
}

export type SnapshotStore = ReturnType<typeof createSnapshotStore>

export const createSnapshotStore = (database: Database) => {
  const insert = database.prepare(`
    INSERT INTO snapshots (id, account, source_devbox_id, status, create_time_ms, name, commit_message, metadata)
    VALUES (?, ?, ?, 'in_progress', ?, ?, ?, ?)`)
  const rows = createRows<SnapshotRow>(database, 'snapshots')
  const setState = database.prepare('UPDATE snapshots SET status = ?, error_message = ?, size_bytes = ? WHERE seq = ?')
  const setFields = database.prepare('UPDATE snapshots SET name = ?, commit_message = ?, metadata = ? WHERE seq = ?')
  const index = createMetadataIndex(database, 'snapshot_metadata')
  const withStatus = database.prepare('SELECT id FROM snapshots WHERE status = ? ORDER BY seq')
  const starting = database.prepare(
    "SELECT 1 FROM devboxes WHERE account = ? AND status IN ('queued', 'provisioning') AND snapshot_id = ?",
  )

  /** From here on nothing lists the snapshot; its record stays for `state` to tell. */
  const leaveLists = (id: string, status: 'error' | 'deleted', errorMessage: string | null) =>
    database.essential(() =>
      inTransaction(database, () => {
        const row = rows.known(id)
        index.remove(row.account, row.seq, JSON.parse(row.metadata))
        setState.run(status, errorMessage, row.size_bytes, row.seq)
      }),
    )

  return {
    insert: (snapshot: NewSnapshot): void =>
      inTransaction(database, () => {
        const { lastInsertRowid: seq } = insert.run(
          snapshot.id,
          snapshot.account,
          snapshot.source_devbox_id,
          snapshot.create_time_ms,
          snapshot.name,
          snapshot.commit_message,
          JSON.stringify(snapshot.metadata),
        )
        index.add(snapshot.account, seq, snapshot.metadata)
      }),

    /** Whatever became of it, deleted ones included. */
    state: (
      account: string,
      id: string,
    ): (SnapshotState & { status: SnapshotStatus; snapshot: Snapshot }) | undefined => {
      const row = rows.own(account, id)
      return row && { status: row.status, error_message: row.error_message, snapshot: toSnapshot(row) }
    },

    complete: (id: string, sizeBytes: number): void => {
      setState.run('complete', null, sizeBytes, rows.known(id).seq)
    },

    fail: (id: string, errorMessage: string): void => leaveLists(id, 'error', errorMessage),

    delete: (id: string): void => leaveLists(id, 'deleted', null),

    update: (id: string, { name, commit_message, metadata }: SnapshotUpdate): void =>
      inTransaction(database, () => {
        const row = rows.known(id)
        setFields.run(
          typeof name === 'string' ? name || null : row.name,
          typeof commit_message === 'string' ? commit_message || null : row.commit_message,
          metadata ? JSON.stringify(metadata) : row.metadata,
          row.seq,
        )
        if (!metadata || row.status === 'error') return
        index.remove(row.account, row.seq, JSON.parse(row.metadata))
        index.add(row.account, row.seq, metadata)
      }),

    /** The place of a snapshot in its account's order, for `list` to go on from; a deleted one keeps its place. */
    position: (account: string, id: string): number | undefined => rows.own(account, id)?.seq,

    /**
     * Newest first; `before` is the position of the last snapshot already seen. Unspecified: which are listed. Those
     * being taken are; failed and deleted ones are not, as a record does not say that it is one.
     */
    list: (account: string, query: SnapshotListQuery, before?: number): Page<Snapshot> =>
      readPage(database, 'snapshots', filter(account, query), query, before, toSnapshot),

    metadataKeys: index.keys,
    metadataValues: index.values,

    /** Ids of all accounts' snapshots, oldest first. */
    withStatus: (status: SnapshotStatus): string[] => withStatus.all(status).map(({ id }) => id as string),

    /** Whether a devbox that has no disk yet is to get its disk from the snapshot. */
    isBeingStartedFrom: (account: string, id: string): boolean => starting.get(account, id) !== undefined,
  }
}

const filter = (account: string, { devbox_id, source_blueprint_id, metadata }: SnapshotListQuery): Clause[] => [
  ...commonClauses('snapshots', account, { metadata }, 'snapshot_metadata'),
  { sql: "snapshots.status IN ('in_progress', 'complete')", values: [] },
  ...equals('snapshots.source_devbox_id', devbox_id),
  // There are no blueprints here, so none is the source of a snapshot.
  ...(source_blueprint_id === undefined ? [] : [{ sql: '0', values: [] }]),
]

const toSnapshot = (row: SnapshotRow): Snapshot => ({
  id: row.id,
  create_time_ms: row.create_time_ms,
  metadata: JSON.parse(row.metadata),
  source_devbox_id: row.source_devbox_id,
  name: row.name,
  source_blueprint_id: null,
  commit_message: row.commit_message,
  size_bytes: row.size_bytes,
})
