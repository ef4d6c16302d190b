import { queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { listPages, metadataWords, pollWhile } from '#lib/browser/queries/list/pages.ts'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { type BenchmarkListQuery, benchmarks } from '#lib/contract/benchmarks.ts'
import { maxPageSize } from '#lib/contract/page-sizes.ts'
import { hasScenarioRunEnded, type ScenarioRunListQuery, scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { type ScenarioListQuery, scenarios } from '#lib/contract/scenarios.ts'
import { scenarioOutcomesOf } from './outcomes.ts'

const pageApi = browserApi({ benchmarkJobs, benchmarks, scenarioRuns, scenarios })
type Api = typeof pageApi

const maxSearchedJobs = 50

const metadata = (subject: 'scenarios' | 'benchmarks') => ({
  keys: metadataWords([subject, 'metadata-keys'], (signal) => pageApi[subject].metadataKeys({ signal })),
  values: (key: string) =>
    metadataWords([subject, 'metadata-values', key], (signal) =>
      pageApi[subject].metadataValues({ params: { key }, signal }),
    ),
})

export const benchmarkQueries = {
  list: (query: BenchmarkListQuery, api: Pick<Api, 'benchmarks'> = pageApi) =>
    listPages({
      queryKey: ['benchmarks', 'list', query],
      query,
      read: (query, signal) => api.benchmarks.list({ query, signal }),
      rowsOf: (page) => page.benchmarks,
    }),

  metadata: metadata('benchmarks'),
}

export const scenarioQueries = {
  list: (query: ScenarioListQuery, api: Pick<Api, 'scenarios'> = pageApi) =>
    listPages({
      queryKey: ['scenarios', 'list', query],
      query,
      read: (query, signal) => api.scenarios.list({ query, signal }),
      rowsOf: (page) => page.scenarios,
    }),

  metadata: metadata('scenarios'),

  runs: (id: string) =>
    listPages({
      queryKey: ['scenarios', 'runs', id],
      query: { scenario_id: id, limit: maxPageSize } as Partial<ScenarioRunListQuery>,
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
