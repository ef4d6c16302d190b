import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { Overview } from '#components/overview/overview.tsx'
import { overviewQueries } from '#lib/console/queries/overview.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Overview' }

export default async function OverviewPage() {
  const { api, service } = await requireSession()
  const queryClient = makeQueryClient()
  await Promise.all([
    queryClient.prefetchInfiniteQuery(overviewQueries.devboxes(api)),
    queryClient.prefetchInfiniteQuery(overviewQueries.axons(api)),
  ])
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <Overview serviceUrl={service.url} />
    </HydrationBoundary>
  )
}
