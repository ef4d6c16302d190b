import { mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { BenchmarkRun, type BenchmarkRunListQuery, benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { maxPageSize } from '#lib/contract/paging.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { browserApi } from '../api/browser-api.ts'
import { followQuery } from '../live/follow-query.ts'
import { listPages, pollWhile, pushed } from './list-pages.ts'

const pageApi = browserApi({ benchmarkRuns })
type Api = typeof pageApi

const runKeys = {
  all: ['benchmark-runs'] as const,
  lists: ['benchmark-runs', 'list'] as const,
  one: (id: string) => ['benchmark-runs', 'get', id] as const,
  scenarioRuns: (id: string) => ['benchmark-runs', 'scenario-runs', id] as const,
  cancelling: (id: string) => ['benchmark-runs', 'cancelling', id] as const,
}

export const benchmarkRunQueries = {
  /** The pages of a list from `query.starting_after` on; looked at often while one of its runs goes on. */
  list: (query: BenchmarkRunListQuery, api: Api = pageApi) =>
    listPages({
      queryKey: [...runKeys.lists, query],
      query,
      read: (query, signal) => api.benchmarkRuns.list({ query, signal }),
      rowsOf: ({ runs }) => runs,
      refetchInterval: pollWhile(({ runs }) => runs.some(({ state }) => state === 'running')),
    }),

  get: (id: string, api: Api = pageApi) =>
    queryOptions({
      queryKey: runKeys.one(id),
      queryFn: ({ signal }) => api.benchmarkRuns.get({ params: { id }, signal }),
    }),

  /** All scenario runs of a run, as far as one call carries them. */
  scenarioRuns: (id: string, api: Api = pageApi) =>
    queryOptions({
      queryKey: runKeys.scenarioRuns(id),
      queryFn: ({ signal }) =>
        api.benchmarkRuns.scenarioRuns({ params: { id }, query: { limit: maxPageSize }, signal }),
    }),

  /** How many scenario runs a run has: what its score was divided by, once it has ended. */
  scenarioRunCount: (id: string, api: Api = pageApi) =>
    queryOptions({
      queryKey: ['benchmark-runs', 'scenario-run-count', id] as const,
      queryFn: async ({ signal }) =>
        (await api.benchmarkRuns.scenarioRuns({ params: { id }, query: { limit: 1 }, signal })).total_count ?? null,
      staleTime: Number.POSITIVE_INFINITY,
    }),

  /** Whether this browser has asked for the run's cancellation; never fetched. */
  cancelling: (id: string) => pushed<boolean>(runKeys.cancelling(id), false),
}

/** Keeps a run and its scenario runs up to date until the returned function is called. */
export const followRun = (client: QueryClient, id: string): (() => void) => {
  const params = { id }
  const leaves = [
    followQuery(client, runKeys.one(id), { endpoint: 'benchmarkRuns.get', params }, (run) =>
      readLeniently(BenchmarkRun, run),
    ),
    followQuery(
      client,
      runKeys.scenarioRuns(id),
      { endpoint: 'benchmarkRuns.scenarioRuns', params, query: { limit: maxPageSize } },
      (list) => readLeniently(ScenarioRunList, list),
    ),
  ]
  return () => {
    for (const leave of leaves) leave()
  }
}

export const benchmarkRunMutations = {
  /** The answer may still say `running`; until it does not, the run is shown as being cancelled. */
  cancel: (api: Api = pageApi) =>
    mutationOptions({
      mutationKey: [...runKeys.all, 'cancel'],
      mutationFn: (id: string) => api.benchmarkRuns.cancel({ params: { id } }),
      onMutate: (id: string, { client }) => {
        client.setQueryData(runKeys.cancelling(id), true)
      },
      onSuccess: (run: BenchmarkRun, id, _result, { client }) => {
        client.setQueryData(runKeys.one(id), run)
        void client.invalidateQueries({ queryKey: runKeys.scenarioRuns(id) })
        void client.invalidateQueries({ queryKey: runKeys.lists })
        void client.invalidateQueries({ queryKey: ['benchmark-jobs'] })
      },
      // A refusal mostly means that what the page shows is old.
      onError: (_error, id, _result, { client }) => {
        client.setQueryData(runKeys.cancelling(id), false)
        void client.invalidateQueries({ queryKey: runKeys.one(id) })
      },
    }),
}

/** The answer with the zip of a run's logs; its body comes as the service makes it. */
export const downloadRunLogs = (id: string, signal: AbortSignal, api: Api = pageApi): Promise<Response> =>
  api.benchmarkRuns.downloadLogs({ params: { id }, signal })
