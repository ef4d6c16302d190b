import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { JobList } from '#components/benchmarks/job-list.tsx'
import { type PageSearchParams, pageQuery } from '#lib/console/address/url-query.ts'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { BenchmarkJobListQuery } from '#lib/contract/benchmark-jobs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Benchmark jobs' }

export default async function JobListPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api, service } = await requireSession()
  const query = pageQuery(BenchmarkJobListQuery, await searchParams)
  const queryClient = makeQueryClient()
  // What is wrong with an address the list itself tells.
  if (query.ok) await queryClient.prefetchInfiniteQuery(benchmarkJobQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <JobList serviceUrl={service.url} />
    </HydrationBoundary>
  )
}
