import { randomBytes } from 'node:crypto'
import { type ObjectListQuery, type ObjectState, StoredObject } from '#lib/contract/objects.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { clause, equals } from './clauses.ts'
import type { Database } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

export interface ObjectRecord extends Omit<StoredObject, 'upload_url'> {
  seq: number
  account: string
  state: ObjectState
  size_bytes: number | null
  delete_after_time_ms: number | null
  /** Signs the links to the content. */
  link_key: string
}

type NewObject = Omit<ObjectRecord, 'id' | 'seq' | 'state' | 'size_bytes' | 'link_key'>

export type ObjectStore = ReturnType<typeof createObjectStore>

export const createObjectStore = (database: Database) => {
  const fields = fieldsOf(StoredObject)
  const table = createTable(database, 'objects', {
    json: ['metadata'],
    metadata: 'object_metadata',
    isListed: ({ state }) => state !== 'DELETED',
    view: (row: ObjectRecord): StoredObject => fields(row),
  })
  const nextExpiry = database.prepare(
    "SELECT min(delete_after_time_ms) AS time FROM objects WHERE delete_after_time_ms IS NOT NULL AND state <> 'DELETED'",
  )
  const newKey = () => randomBytes(32).toString('hex')

  return {
    ...table,

    /** Unspecified: deleted objects are listed only by their state. */
    list: (account: string, { content_type, state, ...query }: ObjectListQuery, before?: number): Page<StoredObject> =>
      table.list(account, query, before, [
        ...equals('objects.content_type', content_type),
        ...(state === undefined ? [clause("objects.state <> 'DELETED'")] : equals('objects.state', state)),
      ]),

    create: (object: NewObject): ObjectRecord =>
      table.insert({ ...object, id: newId('obj'), state: 'UPLOADING', link_key: newKey() }),

    adopt: (object: NewObject & Pick<ObjectRecord, 'id' | 'state' | 'size_bytes'>): void =>
      void table.insert({ ...object, link_key: newKey() }),

    uploaded: (id: string, sizeBytes: number): void => table.set(id, { size_bytes: sizeBytes }),

    setState: (id: string, state: ObjectState): void =>
      database.essential(() => table.update(table.mustFind(id), { state })),

    withState: (state: ObjectState): string[] => table.where('state = ?', state).map(({ id }) => id),

    expired: (nowMs: number): ObjectRecord[] => table.where("delete_after_time_ms <= ? AND state <> 'DELETED'", nowMs),

    nextExpiryMs: (): number | undefined => (nextExpiry.get()?.time as number | null) ?? undefined,
  }
}
