import type { Metadata } from 'next'
import { snapshotQueries } from '#components/snapshots/queries.ts'
import { SnapshotList } from '#components/snapshots/snapshot-list.tsx'
import { snapshotColumns } from '#lib/browser/address/columns/snapshot-columns.ts'
import { SnapshotListView, snapshotQueryOf } from '#lib/browser/address/snapshot-list-view.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { drawnColumns } from '../drawn-columns.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Snapshots' })

export default async function SnapshotsPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    SnapshotListView,
    await searchParams,
    (view) => snapshotQueries.list(snapshotQueryOf(view), api),
    <SnapshotList serviceUrl={service.url} drawnColumns={await drawnColumns(snapshotColumns, await searchParams)} />,
  )
}
