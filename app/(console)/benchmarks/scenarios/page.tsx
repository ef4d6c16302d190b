import type { Metadata } from 'next'
import { scenarioQueries } from '#components/benchmarks/scenarios/queries.ts'
import { ScenarioListPage } from '#components/benchmarks/scenarios/scenario-list.tsx'
import { ScenarioListQuery } from '#lib/contract/scenarios.ts'
import { listPage } from '../../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Scenarios' })

export default listPage(ScenarioListPage, 'scenarioColumns', ScenarioListQuery, scenarioQueries.list)
