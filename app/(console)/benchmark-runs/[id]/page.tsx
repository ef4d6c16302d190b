import { cache } from 'react'
import { RunDetail } from '#components/benchmarks/run-detail.tsx'
import { benchmarkRunQueries } from '#lib/browser/queries/benchmark-runs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledByName } from '../../read-page.tsx'

/** Once per request, for the title and for the page. */
const readRun = cache(async (id: string) => (await requireSession()).api.benchmarkRuns.get({ params: { id } }))

export const generateMetadata = titledByName('Run', readRun)

export default async function RunDetailPage({ params }: DetailPageProps) {
  const { id } = await params
  return readDetailPage(id, { ...benchmarkRunQueries.get(id), queryFn: () => readRun(id) }, <RunDetail id={id} />)
}
