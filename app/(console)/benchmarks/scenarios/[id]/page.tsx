import { ScenarioDetail } from '#components/benchmarks/scenarios/scenario-detail.tsx'
import { scenarioRunQueries } from '#lib/console/queries/scenario-runs.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledById } from '../../../read-page.tsx'

export const generateMetadata = titledById('Scenario')

export default async function ScenarioDetailPage({ params }: DetailPageProps) {
  const { api } = await requireSession()
  const { id } = await params
  return readDetailPage(id, scenarioRunQueries.scenario(id, api), <ScenarioDetail id={id} />)
}
