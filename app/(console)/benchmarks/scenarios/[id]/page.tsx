import { scenarioRunQueries } from '#components/benchmarks/run/queries.ts'
import { ScenarioDetail } from '#components/benchmarks/scenarios/scenario-detail.tsx'
import { detailPage } from '../../../read-page.tsx'

const scenario = detailPage('Scenario', ScenarioDetail, scenarioRunQueries.scenario, (api, id) =>
  api.scenarios.get({ params: { id } }),
)

export const generateMetadata = scenario.title
export default scenario.page
