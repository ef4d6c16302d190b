import type { ScenarioRunListQuery } from '#lib/contract/scenario-runs.ts'
import type { Deps } from '#lib/service/deps.ts'
import { envelope, pageOf } from './pages.ts'

/** Scenario runs are listed in three places: all, those of a scenario, those of a benchmark run. */
export const scenarioRunPage = ({ scenarioRuns }: Deps['store'], account: string, query: ScenarioRunListQuery) =>
  envelope(
    'runs',
    pageOf(
      query,
      'scenario run',
      (id) => scenarioRuns.position(account, id),
      (before) => scenarioRuns.list(account, query, before),
    ),
  )
