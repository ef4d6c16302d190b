import { mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { fetchWithSession } from '#lib/browser/api/console-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import { followQuery } from '#lib/browser/live/follow.ts'
import { listPages, listRefresh, pushed, type Shown } from '#lib/browser/queries/list/pages.ts'
import { ApiError } from '#lib/client/api-error.ts'
import { type BenchmarkJob, benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import {
  BenchmarkRun,
  type BenchmarkRunList,
  type BenchmarkRunListQuery,
  benchmarkRuns,
} from '#lib/contract/benchmark-runs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { maxPageSize } from '#lib/contract/page-sizes.ts'
import { hasScenarioRunEnded, ScenarioRunList, scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { scenarios } from '#lib/contract/scenarios.ts'
import { agentsWithRuns } from '#lib/protocol/job-agents.ts'
import { readTrajectory } from '../logs/trajectory.ts'

const pageApi = browserApi({ benchmarkJobs, benchmarkRuns, scenarioRuns, scenarios })
type Api = typeof pageApi

const runKeys = {
  all: ['benchmark-runs'] as const,
  lists: ['benchmark-runs', 'list'] as const,
  one: (id: string) => ['benchmark-runs', 'get', id] as const,
  scenarioRuns: (id: string) => ['benchmark-runs', 'scenario-runs', id] as const,
  canceling: (id: string) => ['benchmark-runs', 'canceling', id] as const,
}

export interface RunOrigin {
  job_id: string
  job_name: string
  agent_name: string
  model_name: string | null
  outcomes: number
  job_time_ms: number | null
}

/** A run's name starts with that of its job. */
export const jobNameOf = (name: string | null | undefined): string =>
  name?.slice(0, Math.max(0, name.lastIndexOf(': '))) ?? ''

export const ownOrigin = ({
  name,
  job_id,
  agent_name,
  model_name = null,
  n_scenario_runs,
}: BenchmarkRun): RunOrigin | null =>
  job_id == null || agent_name == null
    ? null
    : {
        job_id,
        job_name: jobNameOf(name) || job_id,
        agent_name,
        model_name,
        outcomes: n_scenario_runs ?? 0,
        job_time_ms: null,
      }

export const originsOf = (jobs: readonly BenchmarkJob[]): Readonly<Record<string, RunOrigin>> =>
  Object.fromEntries(
    jobs.flatMap((job) =>
      agentsWithRuns(job).map(({ key, name, model, outcome }): [string, RunOrigin] => [
        key,
        {
          job_id: job.id,
          job_name: job.name,
          agent_name: name,
          model_name: model,
          outcomes: outcome?.scenario_outcomes.length ?? 0,
          job_time_ms: job.create_time_ms,
        },
      ]),
    ),
  )

const maxSearchedJobs = 50

const runList = (query: BenchmarkRunListQuery, api: Api) => ({
  queryKey: [...runKeys.lists, query],
  query,
  read: (query: BenchmarkRunListQuery, signal: AbortSignal) => api.benchmarkRuns.list({ query, signal }),
  rowsOf: ({ runs }: BenchmarkRunList) => runs,
  withRows: (page: BenchmarkRunList, runs: readonly BenchmarkRun[]) => ({ ...page, runs: [...runs] }),
  isActive: ({ state }: BenchmarkRun) => state === 'running',
})

export const benchmarkRunQueries = {
  list: (query: BenchmarkRunListQuery, api: Api = pageApi) => ({
    ...listPages(runList(query, api)),
    refresh: (shown: () => Shown<BenchmarkRun>) => listRefresh(runList(query, api), shown),
  }),

  get: (id: string) =>
    queryOptions({
      queryKey: runKeys.one(id),
      queryFn: ({ signal }) => pageApi.benchmarkRuns.get({ params: { id }, signal }),
    }),

  scenarioRuns: (id: string) =>
    queryOptions({
      queryKey: runKeys.scenarioRuns(id),
      queryFn: ({ signal }) =>
        pageApi.benchmarkRuns.scenarioRuns({ params: { id }, query: { limit: maxPageSize }, signal }),
    }),

  /** Origins of runs, for services whose runs don't report their job: from the newest jobs, or those of a name. */
  origins: (name?: string) =>
    queryOptions({
      queryKey: ['benchmark-runs', 'origins', name] as const,
      queryFn: async ({ signal }) =>
        originsOf((await pageApi.benchmarkJobs.list({ query: { name, limit: maxSearchedJobs }, signal })).jobs),
      staleTime: 10_000,
    }),

  runningScenarios: (id: string) =>
    queryOptions({
      queryKey: ['benchmark-runs', 'running-scenarios', id] as const,
      queryFn: ({ signal }) =>
        pageApi.benchmarkRuns.scenarioRuns({ params: { id }, query: { state: 'running', limit: 50 }, signal }),
      refetchInterval: pollEvery(3000),
    }),

  scenarioRunCount: (id: string) =>
    queryOptions({
      queryKey: ['benchmark-runs', 'scenario-run-count', id] as const,
      queryFn: async ({ signal }) =>
        (await pageApi.benchmarkRuns.scenarioRuns({ params: { id }, query: { limit: 1 }, signal })).total_count ?? null,
      staleTime: Number.POSITIVE_INFINITY,
    }),

  /** Whether this browser requested cancellation; never fetched. */
  canceling: (id: string) => pushed<boolean>(runKeys.canceling(id), false),
}

export const followRun = (client: QueryClient, id: string): (() => void) => {
  const params = { id }
  const stops = [
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
    for (const stop of stops) stop()
  }
}

export const benchmarkRunMutations = {
  /** The response may still say `running`; the run is shown as canceling until it ends. */
  cancel: () =>
    mutationOptions({
      mutationKey: [...runKeys.all, 'cancel'],
      mutationFn: (id: string) => pageApi.benchmarkRuns.cancel({ params: { id } }),
      onMutate: (id: string, { client }) => {
        client.setQueryData(runKeys.canceling(id), true)
      },
      onSuccess: (run: BenchmarkRun, id, _result, { client }) => {
        client.setQueryData(runKeys.one(id), run)
        void client.invalidateQueries({ queryKey: runKeys.scenarioRuns(id) })
        void client.invalidateQueries({ queryKey: runKeys.lists })
        void client.invalidateQueries({ queryKey: ['benchmark-jobs', 'get'] })
      },
      // A rejection usually means that the page is stale.
      onError: (_error, id, _result, { client }) => {
        client.setQueryData(runKeys.canceling(id), false)
        void client.invalidateQueries({ queryKey: runKeys.one(id) })
      },
    }),

  /** Services without a call to cancel a job cancel its runs one by one. */
  cancelJob: (api: Api = pageApi) =>
    mutationOptions({
      mutationKey: ['benchmark-jobs', 'cancel'],
      mutationFn: async ({ id, runs, byRun }: { id: string; runs: readonly string[]; byRun?: boolean }) => {
        const cancelRuns = async () => {
          for (const run of runs) await api.benchmarkRuns.cancel({ params: { id: run } })
        }
        if (byRun && runs.length > 0) return cancelRuns()
        try {
          await api.benchmarkJobs.cancel({ params: { id } })
        } catch (error) {
          const isUnknown = error instanceof ApiError && [404, 405, 501].includes(error.status)
          if (!isUnknown || runs.length === 0) throw error
          await cancelRuns()
        }
      },
      onSettled: (_runs, _error, _ids, _result, { client }) =>
        Promise.all([runKeys.all, ['benchmark-jobs']].map((queryKey) => client.invalidateQueries({ queryKey }))),
    }),
}

export const downloadRunLogs = (id: string, signal: AbortSignal): Promise<Response> =>
  pageApi.benchmarkRuns.downloadLogs({ params: { id }, signal })

export const scenarioRunQueries = {
  get: (id: string) =>
    queryOptions({
      queryKey: ['scenario-runs', 'get', id] as const,
      queryFn: ({ signal }) => pageApi.scenarioRuns.get({ params: { id }, signal }),
      refetchInterval: ({ state: { data } }) => (data && !hasScenarioRunEnded(data.state) ? 2000 : false),
    }),

  scenario: (id: string) =>
    queryOptions({
      queryKey: ['scenarios', 'get', id] as const,
      queryFn: ({ signal }) => pageApi.scenarios.get({ params: { id }, signal }),
    }),

  trajectory: (id: string, path: string) =>
    queryOptions({
      queryKey: ['scenario-runs', 'trajectory', id, path] as const,
      queryFn: async ({ signal }) => {
        const answer = await fetchWithSession(trajectoryAddress(id, path), { signal })
        const bytes = Number(answer.headers.get('content-length'))
        if (bytes > maxTrajectoryBytes) throw new Error(`It has ${bytes} bytes; the limit is ${maxTrajectoryBytes}`)
        return readTrajectory(await answer.text()) ?? null
      },
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 30_000,
      retry: false,
    }),
}

const maxTrajectoryBytes = 16 * 1024 * 1024

/** File names in the archive of a scenario run start with its id and have no folders. */
export const trajectoryAddress = (id: string, path: string): string =>
  `/api/scenario-runs/${encodeURIComponent(id)}/logs/file?${new URLSearchParams({ path: `${id}_${path.replaceAll('/', '_')}` })}`

export const downloadScenarioRunLogs = (id: string, signal: AbortSignal): Promise<Response> =>
  pageApi.scenarioRuns.downloadLogs({ params: { id }, signal })
