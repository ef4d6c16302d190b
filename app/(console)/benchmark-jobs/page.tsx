import type { Metadata } from 'next'
import { JobList } from '#components/benchmarks/job-list.tsx'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import { BenchmarkJobListQuery } from '#lib/contract/benchmark-jobs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'

export const metadata: Metadata = { title: 'Benchmark jobs' }

export default async function JobListPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    BenchmarkJobListQuery,
    await searchParams,
    (query) => benchmarkJobQueries.list(query, api),
    <JobList serviceUrl={service.url} />,
  )
}
