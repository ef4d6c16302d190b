import * as z from 'zod/mini'
import { type Snapshot, SnapshotListQuery } from '#lib/contract/snapshots.ts'
import { withColumns } from './list-columns.ts'

/** What the address of the snapshot list says: the query of the API, and a search of its page, as the API has none. */
export const SnapshotListView = z.extend(withColumns(SnapshotListQuery), { search: z.optional(z.string()) })
export type SnapshotListView = z.output<typeof SnapshotListView>

/** The part of a view that the service answers. */
export const snapshotQueryOf = ({
  columns: _columns,
  search: _search,
  ...query
}: SnapshotListView): SnapshotListQuery => query

/** Those that have the text in what names or describes them. */
export const snapshotsFoundBy = ({ search = '' }: Pick<SnapshotListView, 'search'>): ((row: Snapshot) => boolean) => {
  const wanted = search.toLowerCase()
  return ({ id, name, commit_message }) =>
    [id, name, commit_message].some((text) => text?.toLowerCase().includes(wanted))
}
