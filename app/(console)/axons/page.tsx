import type { Metadata } from 'next'
import { AxonList } from '#components/axons/axon-list.tsx'
import { AxonView, apiQueryOf } from '#lib/console/address/axon-view.ts'
import { axonColumns } from '#lib/console/address/columns/axon-columns.ts'
import { pageQuery } from '#lib/console/address/url-query.ts'
import { isDrawnByServer } from '#lib/console/queries/axon/rows.ts'
import { axonQueries } from '#lib/console/queries/axons.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { t } from '#lib/language/translate.ts'
import { drawnColumns } from '../drawn-columns.ts'
import { type ListPageProps, readPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: t('Axons') })

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
