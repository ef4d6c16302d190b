import { dehydrate, HydrationBoundary } from '@tanstack/react-query'
import type { Metadata } from 'next'
import { RunList } from '#components/benchmarks/run-list.tsx'
import { type PageSearchParams, pageQuery } from '#lib/console/address/url-query.ts'
import { benchmarkRunQueries } from '#lib/console/queries/benchmark-runs.ts'
import { makeQueryClient } from '#lib/console/queries/query-client.ts'
import { BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Benchmark runs' }

export default async function RunListPage({ searchParams }: { searchParams: Promise<PageSearchParams> }) {
  const { api } = await requireSession()
  const query = pageQuery(BenchmarkRunListQuery, await searchParams)
  const queryClient = makeQueryClient()
  // What is wrong with an address the list itself tells.
  if (query.ok) await queryClient.prefetchInfiniteQuery(benchmarkRunQueries.list(query.value, api))
  return (
    <HydrationBoundary state={dehydrate(queryClient)}>
      <RunList />
    </HydrationBoundary>
  )
}
