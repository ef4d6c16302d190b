import { cache } from 'react'
import { JobDetail } from '#components/benchmarks/job/job-detail.tsx'
import { benchmarkJobQueries } from '#components/benchmarks/job/queries.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledByName } from '../../read-page.tsx'

/** Shared by the title and the page within one request. */
const readJob = cache(async (id: string) => (await requireSession()).api.benchmarkJobs.get({ params: { id } }))

export const generateMetadata = titledByName('Job', readJob)

export default async function JobDetailPage({ params }: DetailPageProps) {
  const { id } = await params
  return readDetailPage(id, { ...benchmarkJobQueries.get(id), queryFn: () => readJob(id) }, <JobDetail id={id} />)
}
