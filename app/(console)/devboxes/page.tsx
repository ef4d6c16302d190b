import type { Metadata } from 'next'
import { DevboxList } from '#components/devboxes/devbox-list.tsx'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { DevboxListQuery } from '#lib/contract/devboxes.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'

export const metadata: Metadata = { title: 'Devboxes' }

export default async function DevboxesPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    DevboxListQuery,
    await searchParams,
    (query) => devboxQueries.list(query, api),
    <DevboxList serviceUrl={service.url} />,
  )
}
