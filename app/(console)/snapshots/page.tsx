import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { SnapshotList } from '#components/snapshots/snapshot-list.tsx'
import { type PageSearchParams, pageQuery } from '#lib/console/address/url-query.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { snapshotQueries } from '#lib/console/queries/snapshots.ts'
import { SnapshotListQuery } from '#lib/contract/snapshots.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Snapshots' }

export default async function SnapshotsPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api, service } = await requireSession()
  const query = pageQuery(SnapshotListQuery, await searchParams)
  const queryClient = makeQueryClient()
  // What is wrong with an address the list itself tells.
  if (query.ok) await queryClient.prefetchInfiniteQuery(snapshotQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <SnapshotList serviceUrl={service.url} />
    </HydrationBoundary>
  )
}
