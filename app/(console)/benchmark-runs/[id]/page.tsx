import { redirect } from 'next/navigation'
import { RunOverview } from '#components/benchmarks/run/run-overview.tsx'
import { RunLogsParams, runLogsPath } from '#components/benchmarks/run/search-params.ts'
import { pageQuery } from '#lib/browser/address/url-query.ts'
import { type DetailPageProps, idOf } from '../../read-page.tsx'

export default async function RunOverviewPage({ params, searchParams }: DetailPageProps) {
  const id = await idOf(params)
  const { tab, ...search } = await searchParams
  // Old addresses: logs were at `?tab=logs`, or implied by a file.
  const logs = pageQuery(RunLogsParams, search)
  if (tab === 'logs' || search.file !== undefined) redirect(runLogsPath(id)(logs.ok ? logs.value : {}))
  return <RunOverview id={id} />
}
