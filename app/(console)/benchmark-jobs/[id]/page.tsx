import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { JobDetail } from '#components/benchmarks/job-detail.tsx'
import { isMissing } from '#lib/console/api/failures.ts'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { idPattern } from '#lib/contract/common.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

interface Props {
  params: Promise<{ id: string }>
}

export const generateMetadata = async ({ params }: Props): Promise<Metadata> => {
  const { id } = await params
  return { title: idPattern.test(id) ? `Job ${id}` : 'Job' }
}

export default async function JobDetailPage({ params }: Props) {
  const { api } = await requireSession()
  const { id } = await params
  if (!idPattern.test(id)) notFound()
  const queryClient = makeQueryClient()
  await queryClient.fetchQuery(benchmarkJobQueries.get(id, api)).catch((error: unknown) => {
    if (isMissing(error)) notFound()
    // Anything else the page shows itself, with a way to try again.
  })
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <JobDetail id={id} />
    </HydrationBoundary>
  )
}
