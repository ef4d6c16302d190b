import type { Metadata } from 'next'
import { scenarioQueries } from '#components/benchmarks/scenarios/queries.ts'
import { ScenarioListPage } from '#components/benchmarks/scenarios/scenario-list.tsx'
import { ScenarioSearchParams, scenarioQueryOf } from '#components/benchmarks/scenarios/search-params.ts'
import { forService } from '#lib/browser/lists/service-sort.ts'
import { listPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Scenarios' })

export default listPage(
  ScenarioListPage,
  'scenarioColumns',
  ScenarioSearchParams,
  (view, api, canSort) => scenarioQueries.list(forService(scenarioQueryOf(view), canSort), api),
  'scenarios.list',
)
