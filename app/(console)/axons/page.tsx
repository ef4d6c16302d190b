import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { AxonList } from '#components/axons/axon-list.tsx'
import { AddressProblem } from '#components/filters/address-problem.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { paths } from '#lib/console/paths.ts'
import { axonQueries } from '#lib/console/queries/axons.ts'
import { makeQueryClient } from '#lib/console/query-client.ts'
import { type PageSearchParams, pageQuery } from '#lib/console/url-query.ts'
import { AxonListQuery } from '#lib/contract/axons.ts'
import { requireSession } from '#lib/gateway/session.ts'

export const metadata: Metadata = { title: 'Axons' }

export default async function AxonsPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api, service } = await requireSession()
  const query = pageQuery(AxonListQuery, await searchParams)
  if (!query.ok)
    return (
      <>
        <PageHeader title="Axons" />
        <AddressProblem problems={query.problems} clearHref={paths.axons()} />
      </>
    )
  const queryClient = makeQueryClient()
  await queryClient.prefetchInfiniteQuery(axonQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <AxonList query={query.value} serviceUrl={service.url} />
    </HydrationBoundary>
  )
}
