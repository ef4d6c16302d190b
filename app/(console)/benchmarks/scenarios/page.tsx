import type { Metadata } from 'next'
import { scenarioQueries } from '#components/benchmarks/scenarios/queries.ts'
import { ScenarioListPage } from '#components/benchmarks/scenarios/scenario-list.tsx'
import { ScenarioListQuery } from '#lib/contract/scenarios.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'

import { type ListPageProps, readListPage } from '../../read-page.tsx'
import { savedColumns } from '../../saved-columns.ts'

export const generateMetadata = (): Metadata => ({ title: 'Scenarios' })

export default async function ScenariosPage({ searchParams }: ListPageProps) {
  const { api, service } = await requireSession()
  return readListPage(
    ScenarioListQuery,
    await searchParams,
    (query) => scenarioQueries.list(query, api),
    <ScenarioListPage serviceUrl={service.url} savedColumns={await savedColumns('scenarioColumns')} />,
  )
}
