import * as z from 'zod/mini'
import {
  ById,
  Empty,
  EpochMs,
  Id,
  Metadata,
  metadataOperations,
  openEnum,
  pageEnvelope,
  pageQuery,
  StringMap,
  sortQuery,
} from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'
import { MetadataFilter } from './query-string.ts'

export const maxCommitMessageLength = 1000

export const Snapshot = z.object({
  id: z.string(),
  create_time_ms: EpochMs,
  metadata: StringMap,
  source_devbox_id: z.string(),
  name: z.nullish(z.string()),
  source_blueprint_id: z.nullish(z.string()),
  commit_message: z.nullish(z.string()),
  /** Excludes the base blueprint. Null until complete. */
  size_bytes: z.nullish(z.int()),
})
export type Snapshot = z.infer<typeof Snapshot>

export const snapshotStatuses = ['in_progress', 'error', 'complete', 'deleted'] as const
export type SnapshotStatus = (typeof snapshotStatuses)[number]

export const SnapshotState = z.object({
  status: openEnum(snapshotStatuses),
  error_message: z.nullish(z.string()),
  snapshot: z.nullish(Snapshot),
})
export type SnapshotState = z.infer<typeof SnapshotState>

const fields = {
  name: z.nullish(z.string()),
  metadata: z.nullish(Metadata),
  commit_message: z.nullish(
    z.string().check(z.maxLength(maxCommitMessageLength, `must be at most ${maxCommitMessageLength} characters`)),
  ),
}
export const SnapshotCreate = z.object(fields)
export type SnapshotCreate = z.infer<typeof SnapshotCreate>

/** Replaces all metadata. Unspecified: missing or null fields are unchanged, as for devboxes. */
export const SnapshotUpdate = z.object(fields)
export type SnapshotUpdate = z.infer<typeof SnapshotUpdate>

export const SnapshotListQuery = z.object({
  devbox_id: z.optional(Id),
  source_blueprint_id: z.optional(Id),
  metadata: z.optional(MetadataFilter),
  ...sortQuery(['name', 'id', 'source_devbox_id', 'size_bytes', 'create_time_ms']),
  ...pageQuery,
})
export type SnapshotListQuery = z.output<typeof SnapshotListQuery>
export const SnapshotList = z.object({ snapshots: z.array(Snapshot), ...pageEnvelope })
export type SnapshotList = z.infer<typeof SnapshotList>

export const deleteRefusal = (status: string): string | null => {
  if (status === 'complete') return null
  if (status === 'in_progress') return 'The snapshot is still being taken'
  return status === 'error' ? 'The snapshot failed' : `The snapshot is ${status}`
}

export const snapshots = defineEndpoints('snapshots', 'stable', {
  list: get('/v1/devboxes/disk_snapshots', json(SnapshotList), { query: SnapshotListQuery }),
  listPublic: get('/v1/devboxes/disk_snapshots/list_public', json(SnapshotList), { query: SnapshotListQuery }),
  ...metadataOperations('/v1/devboxes/disk_snapshots'),
  status: get('/v1/devboxes/disk_snapshots/:id/status', json(SnapshotState), { params: ById }),
  update: post('/v1/devboxes/disk_snapshots/:id', json(Snapshot), { params: ById, body: SnapshotUpdate }),
  delete: post('/v1/devboxes/disk_snapshots/:id/delete', json(Empty), { params: ById }),
  create: post('/v1/devboxes/:id/snapshot_disk', json(Snapshot), { params: ById, body: SnapshotCreate }),
  createAsync: post('/v1/devboxes/:id/snapshot_disk_async', json(Snapshot), { params: ById, body: SnapshotCreate }),
})
