import type { Metadata } from 'next'
import { benchmarkRunQueries } from '#components/benchmarks/run/queries.ts'
import { RunList } from '#components/benchmarks/run-list.tsx'
import { BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

import { type ListPageProps, readListPage } from '../read-page.tsx'
import { savedColumns } from '../saved-columns.ts'

export const generateMetadata = (): Metadata => ({ title: 'Benchmark runs' })

export default async function RunListPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    BenchmarkRunListQuery,
    await searchParams,
    (query) => benchmarkRunQueries.list(query, api),
    <RunList serviceUrl={service.url} savedColumns={await savedColumns('runColumns')} />,
  )
}
