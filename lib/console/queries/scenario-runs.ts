import { queryOptions } from '@tanstack/react-query'
import { hasScenarioRunEnded, scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { scenarios } from '#lib/contract/scenarios.ts'
import { browserApi } from '../api/browser-api.ts'

const pageApi = browserApi({ scenarioRuns, scenarios })
type Api = typeof pageApi

export const scenarioRunQueries = {
  get: (id: string, api: Api = pageApi) =>
    queryOptions({
      queryKey: ['scenario-runs', 'get', id] as const,
      queryFn: ({ signal }) => api.scenarioRuns.get({ params: { id }, signal }),
      refetchInterval: ({ state: { data } }) => (data && !hasScenarioRunEnded(data.state) ? 2000 : false),
    }),

  /** What the scenario of a run asks for. */
  scenario: (id: string, api: Api = pageApi) =>
    queryOptions({
      queryKey: ['scenarios', 'get', id] as const,
      queryFn: ({ signal }) => api.scenarios.get({ params: { id }, signal }),
    }),
}

/** The answer with the zip of one scenario run's logs; its body comes as the service makes it. */
export const downloadScenarioRunLogs = (id: string, signal: AbortSignal, api: Api = pageApi): Promise<Response> =>
  api.scenarioRuns.downloadLogs({ params: { id }, signal })
