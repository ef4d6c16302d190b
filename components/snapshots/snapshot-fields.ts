import { type ExportFields, timeField } from '#lib/browser/lists/export.ts'
import type { Snapshot } from '#lib/contract/snapshots.ts'

/** What stands in a file for each column of the list of snapshots. */
export const snapshotFields: ExportFields<Snapshot> = {
  name: [
    { name: 'name', value: ({ name }) => name },
    { name: 'commit_message', value: ({ commit_message }) => commit_message },
  ],
  size: { name: 'size_bytes', value: ({ size_bytes }) => size_bytes },
  id: { name: 'id', value: ({ id }) => id },
  devbox: { name: 'source_devbox_id', value: ({ source_devbox_id }) => source_devbox_id },
  metadata: { name: 'metadata', value: ({ metadata }) => metadata },
  created: timeField('create_time_ms', ({ create_time_ms }) => create_time_ms),
}
