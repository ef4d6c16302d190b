import type { Metadata } from 'next'
import { benchmarkJobQueries } from '#components/benchmarks/job/queries.ts'
import { JobList } from '#components/benchmarks/job-list.tsx'
import { JobSearchParams, jobQueryOf } from '#components/benchmarks/job-search-params.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

import { type ListPageProps, readListPage } from '../read-page.tsx'
import { savedColumns } from '../saved-columns.ts'

export const generateMetadata = (): Metadata => ({ title: 'Benchmark jobs' })

export default async function JobListPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    JobSearchParams,
    await searchParams,
    (view) => benchmarkJobQueries.list(jobQueryOf(view), api),
    <JobList serviceUrl={service.url} savedColumns={await savedColumns('jobColumns')} />,
  )
}
