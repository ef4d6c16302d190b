import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { DevboxList } from '#components/devboxes/devbox-list.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { paths } from '#lib/console/paths.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { makeQueryClient } from '#lib/console/query-client.ts'
import { type PageSearchParams, pageQuery } from '#lib/console/url-query.ts'
import { DevboxListQuery } from '#lib/contract/devboxes.ts'
import { requireSession } from '#lib/gateway/session.ts'

export const metadata: Metadata = { title: 'Devboxes' }

export default async function DevboxesPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api, service } = await requireSession()
  const query = pageQuery(DevboxListQuery, await searchParams)
  if (!query.ok) {
    const message = query.problems.map(({ field, message }) => `${field} ${message}`).join('; ')
    return (
      <ErrorState
        title="This address asks for a list that does not exist"
        error={{ code: 'invalid_argument', message }}
        action={<ButtonLink href={paths.devboxes()}>Show all devboxes</ButtonLink>}
      />
    )
  }
  const queryClient = makeQueryClient()
  await queryClient.prefetchInfiniteQuery(devboxQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <DevboxList query={query.value} serviceUrl={service.url} />
    </HydrationBoundary>
  )
}
