import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { Scenario } from '#lib/contract/scenarios.ts'
import { scenarioRunQueries } from '../run/queries.ts'
import { scenarioOutcomesOf } from './outcomes.ts'
import { scenarioQueries } from './queries.ts'
import { ScenarioDetail } from './scenario-detail.tsx'

it('shows a scenario with hardly any fields', () => {
  const scenario = { id: 's1', name: null, metadata: null, status: 'draft', scoring_contract: null }
  const client = new QueryClient()
  client.setQueryData(scenarioRunQueries.scenario('s1').queryKey, readLeniently(Scenario, scenario))
  const runs = { pages: [readLeniently(ScenarioRunList, {})], pageParams: [undefined] }
  client.setQueryData(scenarioQueries.runs('s1').queryKey, runs)
  const outcomes = scenarioOutcomesOf('s1', { jobs: [], has_more: false })
  client.setQueryData(scenarioQueries.outcomes('s1').queryKey, outcomes)
  const page = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <ScenarioDetail id="s1" />
    </QueryClientProvider>,
  )
  expect(page).toContain('Unnamed scenario')
  expect(page).toContain('draft')
  expect(page).toContain('No attempts yet.')
  expect(page).toContain('No instruction.')
  expect(page).toContain('Scoring not reported.')
})
