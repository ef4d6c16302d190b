import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { DevboxList } from '#components/devboxes/devbox-list.tsx'
import { type PageSearchParams, pageQuery } from '#lib/console/address/url-query.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { DevboxListQuery } from '#lib/contract/devboxes.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Devboxes' }

export default async function DevboxesPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api, service } = await requireSession()
  const query = pageQuery(DevboxListQuery, await searchParams)
  const queryClient = makeQueryClient()
  // What is wrong with an address the list itself tells.
  if (query.ok) await queryClient.prefetchInfiniteQuery(devboxQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <DevboxList serviceUrl={service.url} />
    </HydrationBoundary>
  )
}
