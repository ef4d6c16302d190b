import type { Metadata } from 'next'
import { DevboxList } from '#components/devboxes/devbox-list.tsx'
import { DevboxListView, devboxQueryOf } from '#lib/console/address/devbox-list-view.ts'
import { devboxColumns } from '#lib/console/address/list-columns.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'
import { rememberedColumns } from '../remembered-columns.ts'

export const metadata: Metadata = { title: 'Devboxes' }

export default async function DevboxesPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    DevboxListView,
    await searchParams,
    (view) => devboxQueries.list(devboxQueryOf(view), api),
    <DevboxList serviceUrl={service.url} rememberedColumns={await rememberedColumns(devboxColumns)} />,
  )
}
