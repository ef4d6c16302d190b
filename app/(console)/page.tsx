import type { Metadata } from 'next'
import { Overview } from '#components/overview/overview.tsx'
import { overviewQueries } from '#components/overview/queries.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { demos } from '#lib/gateway/demo/demos.ts'
import { readPage } from './read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Overview' })

export default async function OverviewPage() {
  const { api, service, account } = await requireSession()
  return readPage(
    (client) =>
      Promise.all([
        client.prefetchQuery(overviewQueries.totals(api)),
        client.prefetchInfiniteQuery(overviewQueries.devboxes(api)),
        client.prefetchInfiniteQuery(overviewQueries.running(api)),
        client.prefetchInfiniteQuery(overviewQueries.failed(api)),
        client.prefetchInfiniteQuery(overviewQueries.axons(api)),
        client.prefetchInfiniteQuery(overviewQueries.jobs(api)),
      ]),
    <Overview serviceUrl={service.url} account={account.id} demo={demos().view(account.id)} />,
  )
}
