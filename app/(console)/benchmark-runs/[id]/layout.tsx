import { cache, type ReactNode } from 'react'
import { benchmarkRunQueries } from '#components/benchmarks/run/queries.ts'
import { RunLayout } from '#components/benchmarks/run/run-layout.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { readDetailPage, titledByName } from '../../read-page.tsx'

/** Read once per request, for the title and the page. */
const readRun = cache(async (id: string) => (await requireSession()).api.benchmarkRuns.get({ params: { id } }))

export const generateMetadata = titledByName('Run', readRun)

export default async function BenchmarkRunLayout({
  params,
  children,
}: {
  params: Promise<{ id: string }>
  children: ReactNode
}) {
  const { id } = await params
  const query = { ...benchmarkRunQueries.get(id), queryFn: () => readRun(id) }
  return readDetailPage(id, query, <RunLayout id={id}>{children}</RunLayout>)
}
