import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { DevboxList } from '#components/devboxes/devbox-list.tsx'
import { AddressProblem } from '#components/filters/address-problem.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { type PageSearchParams, pageQuery } from '#lib/console/address/url-query.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { DevboxListQuery } from '#lib/contract/devboxes.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Devboxes' }

export default async function DevboxesPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api, service } = await requireSession()
  const query = pageQuery(DevboxListQuery, await searchParams)
  if (!query.ok)
    return (
      <>
        <PageHeader title="Devboxes" />
        <AddressProblem problems={query.problems} clearHref={paths.devboxes()} />
      </>
    )
  const queryClient = makeQueryClient()
  await queryClient.prefetchInfiniteQuery(devboxQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <DevboxList query={query.value} serviceUrl={service.url} />
    </HydrationBoundary>
  )
}
