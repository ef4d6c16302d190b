import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { AxonDetail } from '#components/axons/axon-detail.tsx'
import { axonTabOf } from '#components/axons/axon-tab.ts'
import type { PageSearchParams } from '#lib/console/address/url-query.ts'
import { isMissing } from '#lib/console/api/failures.ts'
import { axonQueries } from '#lib/console/queries/axons.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { idPattern } from '#lib/contract/common.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

interface AxonPageProps {
  params: Promise<{ id: string }>
  searchParams: Promise<PageSearchParams>
}

export const generateMetadata = async ({ params }: Pick<AxonPageProps, 'params'>): Promise<Metadata> => {
  const { id } = await params
  return { title: idPattern.test(id) ? `Axon ${id}` : 'Axon' }
}

export default async function AxonPage({ params, searchParams }: AxonPageProps) {
  const { api } = await requireSession()
  const { id } = await params
  if (!idPattern.test(id)) notFound()
  const queryClient = makeQueryClient()
  await queryClient.fetchQuery(axonQueries.get(id, api)).catch((error: unknown) => {
    if (isMissing(error)) notFound()
    // Anything else the page shows itself, with a way to try again.
  })
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <AxonDetail id={id} tab={axonTabOf((await searchParams).tab)} />
    </HydrationBoundary>
  )
}
