import type { Metadata } from 'next'
import { BenchmarkListPage } from '#components/benchmarks/scenarios/benchmark-list.tsx'
import { benchmarkDefinitionQueries } from '#lib/browser/queries/benchmark-definitions.ts'
import { BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Benchmarks' })

export default async function BenchmarksPage({ searchParams }: ListPageProps) {
  const { api } = await requireSession()
  return readListPage(
    BenchmarkListQuery,
    await searchParams,
    (query) => benchmarkDefinitionQueries.list(query, api),
    <BenchmarkListPage />,
  )
}
