import type { Metadata } from 'next'
import { AxonList } from '#components/axons/axon-list.tsx'
import { AxonView, apiQueryOf } from '#lib/browser/address/axon-view.ts'
import { axonColumns } from '#lib/browser/address/columns/axon-columns.ts'
import { pageQuery } from '#lib/browser/address/url-query.ts'
import { isDrawnByServer } from '#lib/browser/queries/axon/rows.ts'
import { axonQueries } from '#lib/browser/queries/axons.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { drawnColumns } from '../drawn-columns.ts'
import { type ListPageProps, readPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Axons' })

export default async function AxonsPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  const page = <AxonList serviceUrl={service.url} drawnColumns={await drawnColumns(axonColumns, await searchParams)} />
  const view = pageQuery(AxonView, await searchParams)
  return readPage(
    // What is wrong with an address the list itself tells.
    async (client) =>
      view.ok &&
      isDrawnByServer(view.value.limit) &&
      client.prefetchInfiniteQuery(axonQueries.rows(apiQueryOf(view.value), view.value.limit, api)),
    page,
  )
}
