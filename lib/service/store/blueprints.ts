import { Blueprint, type BlueprintListQuery, type BlueprintStatus, isBuilding } from '#lib/contract/blueprints.ts'
import type { StringMap } from '#lib/contract/common.ts'
import { clause, equals } from './clauses.ts'
import type { Database } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

export interface BlueprintRecord {
  seq: number
  id: string
  account: string
  name: string
  state: 'created' | 'deleted'
  status: BlueprintStatus
  create_time_ms: number
  build_finish_time_ms: number | null
  parameters: Blueprint['parameters']
  metadata: StringMap
  base_blueprint_id: string | null
  failure_reason: Failure['reason'] | null
  failure_message: string | null
  /** Set if a container engine built it. */
  image: string | null
  size_bytes: number | null
}

export interface Failure {
  reason: 'out_of_memory' | 'out_of_disk' | 'build_failed'
  message: string
}

type NewBlueprint = Pick<
  BlueprintRecord,
  'id' | 'account' | 'name' | 'create_time_ms' | 'parameters' | 'metadata' | 'base_blueprint_id'
>

export type BlueprintStore = ReturnType<typeof createBlueprintStore>

export const createBlueprintStore = (database: Database) => {
  const fields = fieldsOf(Blueprint)
  const table = createTable(database, 'blueprints', {
    json: ['parameters', 'metadata'],
    metadata: 'blueprint_metadata',
    isListed: ({ state }) => state === 'created',
    view: (row: BlueprintRecord): Blueprint => ({
      ...fields(row),
      parameters: { ...row.parameters, metadata: row.metadata },
      is_public: false,
    }),
  })
  const users = [
    // A failed devbox that has run keeps its disk.
    `SELECT id FROM devboxes WHERE blueprint_id = ? AND status <> 'shutdown'
       AND (status <> 'failure' OR state_transitions LIKE '%"status":"running"%')`,
    "SELECT id FROM snapshots WHERE source_blueprint_id = ? AND status IN ('in_progress', 'complete')",
    "SELECT id FROM blueprints WHERE base_blueprint_id = ? AND state = 'created' AND status <> 'failed'",
  ].map((sql) => database.prepare(`${sql} ORDER BY seq LIMIT 1`))

  return {
    ...table,

    list: (account: string, { name, status, ...query }: BlueprintListQuery, before?: number): Page<Blueprint> =>
      table.list(account, query, before, [
        clause("blueprints.state = 'created'"),
        ...equals('blueprints.name', name),
        ...equals('blueprints.status', status),
      ]),

    insert: (blueprint: NewBlueprint): void => void table.insert({ ...blueprint, state: 'created', status: 'queued' }),

    latest: (account: string, name: string): BlueprintRecord | undefined =>
      table.where("account = ? AND name = ? AND state = 'created' AND status = 'build_complete'", account, name).at(-1),

    begin: (id: string): void => table.set(id, { status: 'building' }),

    complete: (id: string, built: { image: string | null; sizeBytes: number }, nowMs: number): void =>
      database.essential(() =>
        table.set(id, {
          status: 'build_complete',
          image: built.image,
          size_bytes: built.sizeBytes,
          build_finish_time_ms: nowMs,
        }),
      ),

    fail: (id: string, { reason, message }: Failure, nowMs: number): void =>
      database.essential(() =>
        table.set(id, {
          status: 'failed',
          failure_reason: reason,
          failure_message: message,
          build_finish_time_ms: nowMs,
        }),
      ),

    delete: (id: string): void => database.essential(() => table.update(table.mustFind(id), { state: 'deleted' })),

    deletedWithImage: (): string[] => table.where("state = 'deleted' AND image IS NOT NULL").map(({ id }) => id),

    forgetImage: (id: string): void => table.set(id, { image: null }),

    unfinished: (): string[] =>
      table
        .where("state = 'created' AND build_finish_time_ms IS NULL")
        .filter(({ status }) => isBuilding(status))
        .map(({ id }) => id),

    /** A devbox, snapshot or blueprint that needs this one. */
    dependent: (id: string): string | undefined =>
      users.map((user) => user.get(id)?.id as string | undefined).find((user) => user !== undefined),
  }
}
