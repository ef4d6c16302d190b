import { JobDetail } from '#components/benchmarks/job-detail.tsx'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledById } from '../../read-page.tsx'

export const generateMetadata = titledById('Job')

export default async function JobDetailPage({ params }: DetailPageProps) {
  const { api } = await requireSession()
  const { id } = await params
  return readDetailPage(id, benchmarkJobQueries.get(id, api), <JobDetail id={id} />)
}
