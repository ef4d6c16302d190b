import type { Metadata } from 'next'
import { AxonList } from '#components/axons/list.tsx'
import { axonQueries, isDrawnByServer } from '#components/axons/queries.ts'
import { AxonSearchParams, axonQueryOf } from '#components/axons/search-params.ts'
import { pageQuery } from '#lib/browser/address/url-query.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

import { type ListPageProps, readPage } from '../read-page.tsx'
import { savedColumns } from '../saved-columns.ts'

export const generateMetadata = (): Metadata => ({ title: 'Axons' })

export default async function AxonsPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  const page = <AxonList serviceUrl={service.url} savedColumns={await savedColumns('axonColumns')} />
  const view = pageQuery(AxonSearchParams, await searchParams)
  return readPage(
    // The list itself reports an invalid address.
    async (client) =>
      view.ok &&
      isDrawnByServer(view.value.limit) &&
      client.prefetchInfiniteQuery(axonQueries.rows(axonQueryOf(view.value), view.value.limit, api)),
    page,
  )
}
