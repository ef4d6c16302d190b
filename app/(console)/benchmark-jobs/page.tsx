import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { JobList } from '#components/benchmarks/job-list.tsx'
import { AddressProblem } from '#components/filters/address-problem.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { type PageSearchParams, pageQuery } from '#lib/console/address/url-query.ts'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { BenchmarkJobListQuery } from '#lib/contract/benchmark-jobs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Benchmark jobs' }

export default async function JobListPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api, service } = await requireSession()
  const query = pageQuery(BenchmarkJobListQuery, await searchParams)
  if (!query.ok)
    return (
      <>
        <PageHeader title="Benchmark jobs" />
        <AddressProblem problems={query.problems} clearHref={paths.benchmarkJobs()} />
      </>
    )
  const queryClient = makeQueryClient()
  await queryClient.prefetchInfiniteQuery(benchmarkJobQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <JobList query={query.value} serviceUrl={service.url} />
    </HydrationBoundary>
  )
}
