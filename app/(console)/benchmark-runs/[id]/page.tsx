import { cache } from 'react'
import { benchmarkRunQueries } from '#components/benchmarks/run/queries.ts'
import { RunDetail } from '#components/benchmarks/run/run-detail.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledByName } from '../../read-page.tsx'

/** Once per request, for the title and for the page. */
const readRun = cache(async (id: string) => (await requireSession()).api.benchmarkRuns.get({ params: { id } }))

export const generateMetadata = titledByName('Run', readRun)

export default async function RunDetailPage({ params }: DetailPageProps) {
  const { id } = await params
  return readDetailPage(id, { ...benchmarkRunQueries.get(id), queryFn: () => readRun(id) }, <RunDetail id={id} />)
}
