import * as z from 'zod/mini'
import { sortingOf } from '#lib/browser/lists/service-sort.ts'
import { type Snapshot, SnapshotListQuery } from '#lib/contract/snapshots.ts'

export const SnapshotSearchParams = z.extend(SnapshotListQuery, {
  /** The API has no search, so the page searches the loaded rows. */
  search: z.optional(z.string()),
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type SnapshotSearchParams = z.output<typeof SnapshotSearchParams>

export const snapshotQueryOf = ({
  columns: _,
  search: __,
  sort,
  ...query
}: SnapshotSearchParams): SnapshotListQuery => ({
  ...query,
  ...sortingOf(sort, sortFields),
})

const sortFields = {
  name: 'name',
  size: 'size_bytes',
  id: 'id',
  devbox: 'source_devbox_id',
  created: 'create_time_ms',
}

export const snapshotMatchesSearch = ({ id, name, commit_message }: Snapshot, search = ''): boolean =>
  [id, name, commit_message].some((text) => text?.toLowerCase().includes(search.toLowerCase()))
