import {
  Snapshot,
  type SnapshotListQuery,
  type SnapshotState,
  type SnapshotStatus,
  type SnapshotUpdate,
} from '#lib/contract/snapshots.ts'
import type { EngineKind } from '#lib/service/engine/choose-engine.ts'
import { clause, equals } from './clauses.ts'
import type { Database } from './database.ts'
import { createTable, fieldsOf } from './table.ts'

export interface SnapshotRecord extends Snapshot {
  seq: number
  account: string
  status: SnapshotStatus
  error_message: string | null
  engine: EngineKind
}

type NewSnapshot = Omit<SnapshotRecord, 'seq' | 'status' | 'error_message' | 'size_bytes' | 'source_blueprint_id'>

export type SnapshotStore = ReturnType<typeof createSnapshotStore>

export const createSnapshotStore = (database: Database) => {
  const toSnapshot = fieldsOf(Snapshot)
  const table = createTable(database, 'snapshots', {
    json: ['metadata'],
    metadata: 'snapshot_metadata',
    isListed: ({ status }) => status === 'in_progress' || status === 'complete',
    view: (row: SnapshotRecord): Snapshot => toSnapshot(row),
  })
  const starting = database.prepare(
    // A resumed devbox is provisioning too, but has its disk.
    `SELECT 1 FROM devboxes WHERE account = ? AND status IN ('queued', 'provisioning') AND snapshot_id = ?
      AND state_transitions NOT LIKE '%"status":"running"%'`,
  )

  const blueprint = database.prepare('SELECT blueprint_id FROM devboxes WHERE id = ?')

  /** Hides the snapshot from lists; `state` still returns it. */
  const hide = (id: string, status: 'error' | 'deleted', errorMessage: string | null) =>
    database.essential(() => table.update(table.mustFind(id), { status, error_message: errorMessage }))

  return {
    ...table,

    insert: (snapshot: NewSnapshot): void => {
      const source_blueprint_id = (blueprint.get(snapshot.source_devbox_id)?.blueprint_id as string | null) ?? null
      table.insert({ ...snapshot, source_blueprint_id, status: 'in_progress' })
    },

    adopt: (snapshot: NewSnapshot & Pick<SnapshotRecord, 'size_bytes' | 'source_blueprint_id'>): void =>
      void table.insert({ ...snapshot, status: 'complete' }),

    state: (
      account: string,
      id: string,
    ): (SnapshotState & { status: SnapshotStatus; snapshot: Snapshot }) | undefined => {
      const row = table.own(account, id)
      return row && { status: row.status, error_message: row.error_message, snapshot: toSnapshot(row) }
    },

    complete: (id: string, sizeBytes: number): void =>
      table.set(id, { status: 'complete', error_message: null, size_bytes: sizeBytes }),

    fail: (id: string, errorMessage: string): void => hide(id, 'error', errorMessage),

    delete: (id: string): void => hide(id, 'deleted', null),

    update: (id: string, { name, commit_message, metadata }: SnapshotUpdate): void =>
      table.update(table.mustFind(id), {
        ...(typeof name === 'string' && { name: name || null }),
        ...(typeof commit_message === 'string' && { commit_message: commit_message || null }),
        ...(metadata && { metadata }),
      }),

    /** Unspecified: lists omit failed and deleted snapshots, because their records have no status. */
    list: (account: string, { devbox_id, source_blueprint_id, ...query }: SnapshotListQuery, before?: number) =>
      table.list(account, query, before, [
        clause("snapshots.status IN ('in_progress', 'complete')"),
        ...equals('snapshots.source_devbox_id', devbox_id),
        ...equals('snapshots.source_blueprint_id', source_blueprint_id),
      ]),

    withStatus: (status: SnapshotStatus): string[] => table.where('status = ?', status).map(({ id }) => id),

    latestOf: (devboxId: string): string | undefined =>
      table.where("status = 'complete' AND source_devbox_id = ?", devboxId).at(-1)?.id,

    isBeingStartedFrom: (account: string, id: string): boolean => starting.get(account, id) !== undefined,
  }
}
