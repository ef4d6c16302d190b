import type { Metadata } from 'next'
import { JobList } from '#components/benchmarks/job-list.tsx'
import { jobColumns } from '#lib/console/address/columns/job-columns.ts'
import { JobListView, jobQueryOf } from '#lib/console/address/job-list-view.ts'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { t } from '#lib/language/translate.ts'
import { drawnColumns } from '../drawn-columns.ts'
import { type ListPageProps, readListPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: t('Benchmark jobs') })

export default async function JobListPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    JobListView,
    await searchParams,
    (view) => benchmarkJobQueries.list(jobQueryOf(view), api),
    <JobList serviceUrl={service.url} drawnColumns={await drawnColumns(jobColumns, await searchParams)} />,
  )
}
