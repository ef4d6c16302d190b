import type { Metadata } from 'next'
import { DevboxList } from '#components/devboxes/devbox-list.tsx'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { devboxColumns } from '#lib/browser/address/columns/devbox-columns.ts'
import { DevboxListView, devboxQueryOf } from '#lib/browser/address/devbox-list-view.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { drawnColumns } from '../drawn-columns.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Devboxes' })

export default async function DevboxesPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    DevboxListView,
    await searchParams,
    (view) => devboxQueries.list(devboxQueryOf(view), api),
    <DevboxList serviceUrl={service.url} drawnColumns={await drawnColumns(devboxColumns, await searchParams)} />,
  )
}
