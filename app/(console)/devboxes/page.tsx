import type { Metadata } from 'next'
import { DevboxList } from '#components/devboxes/list.tsx'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { DevboxSearchParams, devboxQueryOf } from '#components/devboxes/search-params.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

import { type ListPageProps, readListPage } from '../read-page.tsx'
import { savedColumns } from '../saved-columns.ts'

export const generateMetadata = (): Metadata => ({ title: 'Devboxes' })

export default async function DevboxesPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    DevboxSearchParams,
    await searchParams,
    (view) => devboxQueries.list(devboxQueryOf(view), api),
    <DevboxList serviceUrl={service.url} savedColumns={await savedColumns('devboxColumns')} />,
  )
}
