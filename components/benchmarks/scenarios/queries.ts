import { queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { listPages, metadataWords, pollWhile } from '#lib/browser/queries/list/pages.ts'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { maxPageSize } from '#lib/contract/page-sizes.ts'
import { hasScenarioRunEnded, scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { type ScenarioListQuery, scenarios } from '#lib/contract/scenarios.ts'
import { scenarioOutcomesOf } from './outcomes.ts'

const pageApi = browserApi({ benchmarkJobs, scenarioRuns, scenarios })
type Api = typeof pageApi

const maxSearchedJobs = 50

export const scenarioQueries = {
  list: (query: ScenarioListQuery, api: Pick<Api, 'scenarios'> = pageApi) =>
    listPages({
      queryKey: ['scenarios', 'list', query],
      query,
      read: (query, signal) => api.scenarios.list({ query, signal }),
      rowsOf: (page) => page.scenarios,
    }),

  metadataKeys: () =>
    metadataWords(['scenarios', 'metadata-keys'], (signal) => pageApi.scenarios.metadataKeys({ signal })),

  metadataValues: (key: string) =>
    metadataWords(['scenarios', 'metadata-values', key], (signal) =>
      pageApi.scenarios.metadataValues({ params: { key }, signal }),
    ),

  runs: (id: string) =>
    listPages({
      queryKey: ['scenarios', 'runs', id],
      query: { scenario_id: id, limit: maxPageSize } as { scenario_id: string; limit: number; starting_after?: string },
      read: (query, signal) => pageApi.scenarioRuns.list({ query, signal }),
      rowsOf: ({ runs }) => runs,
      refetchInterval: pollWhile(({ runs }) => runs.some(({ state }) => !hasScenarioRunEnded(state))),
    }),

  /** Outcomes in the newest jobs, as scenario runs don't report job and agent. */
  outcomes: (id: string) =>
    queryOptions({
      queryKey: ['scenarios', 'outcomes', id] as const,
      queryFn: async ({ signal }) =>
        scenarioOutcomesOf(id, await pageApi.benchmarkJobs.list({ query: { limit: maxSearchedJobs }, signal })),
      staleTime: 5_000,
    }),
}
