import type { Metadata } from 'next'
import { SnapshotList } from '#components/snapshots/snapshot-list.tsx'
import { snapshotColumns } from '#lib/console/address/list-columns.ts'
import { snapshotQueries } from '#lib/console/queries/snapshots.ts'
import { SnapshotListQuery } from '#lib/contract/snapshots.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'
import { rememberedColumns } from '../remembered-columns.ts'

export const metadata: Metadata = { title: 'Snapshots' }

export default async function SnapshotsPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    SnapshotListQuery,
    await searchParams,
    (query) => snapshotQueries.list(query, api),
    <SnapshotList serviceUrl={service.url} rememberedColumns={await rememberedColumns(snapshotColumns)} />,
  )
}
