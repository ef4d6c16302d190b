import { RunDetail } from '#components/benchmarks/run-detail.tsx'
import { benchmarkRunQueries } from '#lib/console/queries/benchmark-runs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledById } from '../../read-page.tsx'

export const generateMetadata = titledById('Run')

export default async function RunDetailPage({ params }: DetailPageProps) {
  const { api } = await requireSession()
  const { id } = await params
  return readDetailPage(id, benchmarkRunQueries.get(id, api), <RunDetail id={id} />)
}
