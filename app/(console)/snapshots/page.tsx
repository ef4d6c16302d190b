import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { AddressProblem } from '#components/filters/address-problem.tsx'
import { SnapshotList } from '#components/snapshots/snapshot-list.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { type PageSearchParams, pageQuery } from '#lib/console/address/url-query.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { snapshotQueries } from '#lib/console/queries/snapshots.ts'
import { SnapshotListQuery } from '#lib/contract/snapshots.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Snapshots' }

export default async function SnapshotsPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api, service } = await requireSession()
  const query = pageQuery(SnapshotListQuery, await searchParams)
  if (!query.ok)
    return (
      <>
        <PageHeader title="Snapshots" />
        <AddressProblem problems={query.problems} clearHref={paths.snapshots()} />
      </>
    )
  const queryClient = makeQueryClient()
  await queryClient.prefetchInfiniteQuery(snapshotQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <SnapshotList query={query.value} serviceUrl={service.url} />
    </HydrationBoundary>
  )
}
