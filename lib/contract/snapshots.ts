import * as z from 'zod/mini'
import { ById, EpochMs, StringMap } from './common.ts'
import { defineEndpoint, json } from './endpoint.ts'

export const maxCommitMessageLength = 1000

export const Snapshot = z.object({
  id: z.string(),
  create_time_ms: EpochMs,
  metadata: StringMap,
  source_devbox_id: z.string(),
  name: z.nullish(z.string()),
  source_blueprint_id: z.nullish(z.string()),
  commit_message: z.nullish(z.string()),
  /** Relative to the base blueprint. */
  size_bytes: z.nullish(z.int()),
})
export type Snapshot = z.infer<typeof Snapshot>

/** Metadata that is given replaces the old one whole. Unspecified: absent or null keeps what is there, as for devboxes. */
export const SnapshotUpdate = z.object({
  name: z.nullish(z.string()),
  metadata: z.nullish(StringMap),
  commit_message: z.nullish(
    z.string().check(z.maxLength(maxCommitMessageLength, `must be at most ${maxCommitMessageLength} characters`)),
  ),
})

export const snapshots = {
  update: defineEndpoint({
    id: 'snapshots.update',
    method: 'POST',
    path: '/v1/devboxes/disk_snapshots/:id',
    params: ById,
    body: SnapshotUpdate,
    response: json(Snapshot),
    stability: 'stable',
    summary: 'Replace the name, metadata or commit message of a disk snapshot',
  }),
}
