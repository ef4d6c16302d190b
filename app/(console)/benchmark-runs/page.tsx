import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { RunList } from '#components/benchmarks/run-list.tsx'
import { AddressProblem } from '#components/filters/address-problem.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { type PageSearchParams, pageQuery } from '#lib/console/address/url-query.ts'
import { benchmarkRunQueries } from '#lib/console/queries/benchmark-runs.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Benchmark runs' }

export default async function RunListPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api } = await requireSession()
  const query = pageQuery(BenchmarkRunListQuery, await searchParams)
  if (!query.ok)
    return (
      <>
        <PageHeader title="Benchmark runs" />
        <AddressProblem problems={query.problems} clearHref={paths.benchmarkRuns()} />
      </>
    )
  const queryClient = makeQueryClient()
  await queryClient.prefetchInfiniteQuery(benchmarkRunQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <RunList query={query.value} />
    </HydrationBoundary>
  )
}
