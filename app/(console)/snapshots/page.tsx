import type { Metadata } from 'next'
import { SnapshotList } from '#components/snapshots/list.tsx'
import { snapshotQueries } from '#components/snapshots/queries.ts'
import { SnapshotSearchParams, snapshotQueryOf } from '#components/snapshots/search-params.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

import { type ListPageProps, readListPage } from '../read-page.tsx'
import { savedColumns } from '../saved-columns.ts'

export const generateMetadata = (): Metadata => ({ title: 'Snapshots' })

export default async function SnapshotsPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    SnapshotSearchParams,
    await searchParams,
    (view) => snapshotQueries.list(snapshotQueryOf(view), api),
    <SnapshotList serviceUrl={service.url} savedColumns={await savedColumns('snapshotColumns')} />,
  )
}
