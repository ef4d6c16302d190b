import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { AxonList } from '#components/axons/axon-list.tsx'
import { AxonView, apiQueryOf, readColumns } from '#lib/console/address/axon-view.ts'
import { type PageSearchParams, pageQuery } from '#lib/console/address/url-query.ts'
import { preferenceCookies } from '#lib/console/frame/preferences.ts'
import { axonQueries, isDrawnByServer } from '#lib/console/queries/axons.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Axons' }

export default async function AxonsPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api, service } = await requireSession()
  const view = pageQuery(AxonView, await searchParams)
  const queryClient = makeQueryClient()
  // What is wrong with an address the list itself tells.
  if (view.ok && isDrawnByServer(view.value.limit))
    await queryClient.prefetchInfiniteQuery(axonQueries.rows(apiQueryOf(view.value), view.value.limit, api))
  const remembered = (await cookies()).get(preferenceCookies.axonColumns)?.value ?? ''
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <AxonList serviceUrl={service.url} rememberedColumns={readColumns(remembered) ? remembered : ''} />
    </HydrationBoundary>
  )
}
