import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { DevboxDetail } from '#components/devboxes/devbox-detail.tsx'
import { devboxTabOf } from '#components/devboxes/devbox-tab.ts'
import { isMissing } from '#lib/console/failures.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { makeQueryClient } from '#lib/console/query-client.ts'
import type { PageSearchParams } from '#lib/console/url-query.ts'
import { idPattern } from '#lib/contract/common.ts'
import { requireSession } from '#lib/gateway/session.ts'

interface Props {
  params: Promise<{ id: string }>
  searchParams: Promise<PageSearchParams>
}

export const metadata: Metadata = { title: 'Devbox' }

export default async function DevboxPage({ params, searchParams }: Props) {
  const { api } = await requireSession()
  const { id } = await params
  if (!idPattern.test(id)) notFound()
  const queryClient = makeQueryClient()
  await queryClient.fetchQuery(devboxQueries.get(id, api)).catch((error: unknown) => {
    if (isMissing(error)) notFound()
    // Anything else the page shows itself, with a way to try again.
  })
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <DevboxDetail id={id} tab={devboxTabOf((await searchParams).tab)} />
    </HydrationBoundary>
  )
}
