import type { Metadata } from 'next'
import { benchmarkJobQueries } from '#components/benchmarks/job/queries.ts'
import { JobList } from '#components/benchmarks/job-list.tsx'
import { jobColumns } from '#lib/browser/address/columns/job-columns.ts'
import { JobListView, jobQueryOf } from '#lib/browser/address/job-list-view.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { drawnColumns } from '../drawn-columns.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Benchmark jobs' })

export default async function JobListPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    JobListView,
    await searchParams,
    (view) => benchmarkJobQueries.list(jobQueryOf(view), api),
    <JobList serviceUrl={service.url} drawnColumns={await drawnColumns(jobColumns, await searchParams)} />,
  )
}
