import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { DevboxDetail } from '#components/devboxes/devbox-detail.tsx'
import { devboxTabOf } from '#components/devboxes/devbox-tab.ts'
import { isMissing } from '#lib/console/failures.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { makeQueryClient } from '#lib/console/query-client.ts'
import type { PageSearchParams } from '#lib/console/url-query.ts'
import { requireSession } from '#lib/gateway/session.ts'

interface Props {
  params: Promise<{ id: string }>
  searchParams: Promise<PageSearchParams>
}

export const generateMetadata = async ({ params }: Props): Promise<Metadata> => ({ title: (await params).id })

export default async function DevboxPage({ params, searchParams }: Props) {
  const { api } = await requireSession()
  const id = decodeURIComponent((await params).id)
  const queryClient = makeQueryClient()
  await queryClient.prefetchQuery(devboxQueries.get(id, api))
  if (isMissing(queryClient.getQueryState(devboxQueries.get(id).queryKey)?.error)) notFound()
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <DevboxDetail id={id} tab={devboxTabOf((await searchParams).tab)} />
    </HydrationBoundary>
  )
}
