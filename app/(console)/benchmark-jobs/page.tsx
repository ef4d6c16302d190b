import type { Metadata } from 'next'
import { JobList } from '#components/benchmarks/job-list.tsx'
import { JobListView, jobQueryOf } from '#lib/console/address/job-list-view.ts'
import { jobColumns } from '#lib/console/address/list-columns.ts'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'
import { rememberedColumns } from '../remembered-columns.ts'

export const metadata: Metadata = { title: 'Benchmark jobs' }

export default async function JobListPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    JobListView,
    await searchParams,
    (view) => benchmarkJobQueries.list(jobQueryOf(view), api),
    <JobList serviceUrl={service.url} rememberedColumns={await rememberedColumns(jobColumns)} />,
  )
}
