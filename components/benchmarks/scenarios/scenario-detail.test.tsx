import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { BenchmarkJobList } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { Scenario } from '#lib/contract/scenarios.ts'
import { scenarioRunQueries } from '../run/queries.ts'
import { scenarioOutcomesOf } from './outcomes.ts'
import { scenarioQueries } from './queries.ts'
import { ScenarioDetail } from './scenario-detail.tsx'

/** Text of the page for these responses. */
const pageOf = (scenario: object, runs: object, jobs: object): string => {
  const client = new QueryClient()
  client.setQueryData(scenarioRunQueries.scenario('s1').queryKey, readLeniently(Scenario, scenario))
  client.setQueryData(scenarioQueries.runs('s1').queryKey, {
    pages: [readLeniently(ScenarioRunList, runs)],
    pageParams: [undefined],
  })
  client.setQueryData(
    scenarioQueries.outcomes('s1').queryKey,
    scenarioOutcomesOf('s1', readLeniently(BenchmarkJobList, jobs)),
  )
  const page = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <ScenarioDetail id="s1" />
    </QueryClientProvider>,
  )
  return page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
}

it('shows a scenario with hardly any fields', () => {
  const page = pageOf({ id: 's1', name: null, metadata: null, status: 'draft', scoring_contract: null }, {}, {})
  expect(page).toContain('Unnamed scenario')
  expect(page).toContain('draft')
  expect(page).toContain('No attempts yet.')
  expect(page).toContain('No instruction.')
  expect(page).toContain('Scoring not reported.')
})

it('shows how much of the history is included', () => {
  const outcome = { scenario_definition_id: 's1', scenario_name: 'one', state: 'FAILED', failure_reason: null }
  const page = pageOf(
    { id: 's1', name: 'one', status: 'active' },
    { runs: [{ id: 'scr_1', scenario_id: 's1', state: 'thinking' }], has_more: true, total_count: 120 },
    {
      jobs: [
        {
          id: 'bmj_1',
          name: 'nightly',
          benchmark_outcomes: [{ benchmark_run_id: 'r', agent_name: 'a', scenario_outcomes: [outcome] }],
        },
      ],
      has_more: true,
    },
  )
  expect(page).toContain('Showing 1 of 120 scenario runs and 1 outcome without one.')
  expect(page).toContain('Agents and jobs come from the newest job; older jobs are not included.')
  expect(page).toContain('Load older scenario runs')
})
