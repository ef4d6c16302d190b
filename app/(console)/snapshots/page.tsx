import type { Metadata } from 'next'
import { SnapshotList } from '#components/snapshots/snapshot-list.tsx'
import { snapshotColumns } from '#lib/console/address/columns/snapshot-columns.ts'
import { SnapshotListView, snapshotQueryOf } from '#lib/console/address/snapshot-list-view.ts'
import { snapshotQueries } from '#lib/console/queries/snapshots.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { t } from '#lib/language/translate.ts'
import { drawnColumns } from '../drawn-columns.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: t('Snapshots') })

export default async function SnapshotsPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    SnapshotListView,
    await searchParams,
    (view) => snapshotQueries.list(snapshotQueryOf(view), api),
    <SnapshotList serviceUrl={service.url} drawnColumns={await drawnColumns(snapshotColumns, await searchParams)} />,
  )
}
