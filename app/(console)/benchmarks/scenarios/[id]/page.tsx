import { cache } from 'react'
import { scenarioRunQueries } from '#components/benchmarks/run/scenario-run-queries.ts'
import { ScenarioDetail } from '#components/benchmarks/scenarios/scenario-detail.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledByName } from '../../../read-page.tsx'

/** Shared by the title and the page within one request. */
const readScenario = cache(async (id: string) => (await requireSession()).api.scenarios.get({ params: { id } }))

export const generateMetadata = titledByName('Scenario', readScenario)

export default async function ScenarioDetailPage({ params }: DetailPageProps) {
  const { id } = await params
  return readDetailPage(
    id,
    { ...scenarioRunQueries.scenario(id), queryFn: () => readScenario(id) },
    <ScenarioDetail id={id} />,
  )
}
