import { keepPreviousData, mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { consoleUrl, fetchConsoleJson, fetchWithSession, sendToConsole } from '#lib/browser/api/console-api.ts'
import { sendForm, type UploadOptions } from '#lib/browser/api/upload.ts'
import { followQuery } from '#lib/browser/live/follow.ts'
import { listPages, listRefresh, pollWhile, type Shown } from '#lib/browser/queries/list/pages.ts'
import { ApiError } from '#lib/client/api-error.ts'
import { readDefinitions } from '#lib/client/scenario-definitions.ts'
import {
  BenchmarkJob,
  type BenchmarkJobCreate,
  type BenchmarkJobImport,
  BenchmarkJobImported,
  type BenchmarkJobList,
  type BenchmarkJobListQuery,
  benchmarkJobs,
  hasJobEnded,
} from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { scenarios } from '#lib/contract/scenarios.ts'
import { valuesOfHeader } from '#lib/protocol/mask.ts'
import type {
  CompareReport,
  GateKind,
  Report,
  ReportChoice,
  ReportFormat,
  ReportTable,
  TrendReport,
} from '#lib/protocol/reports.ts'

const pageApi = browserApi({ benchmarkJobs, scenarios })
type Api = typeof pageApi

const jobKeys = {
  all: ['benchmark-jobs'] as const,
  lists: ['benchmark-jobs', 'list'] as const,
  one: (id: string) => ['benchmark-jobs', 'get', id] as const,
  report: (id: string) => ['benchmark-jobs', 'report', id] as const,
  compare: ['benchmark-jobs', 'compare'] as const,
  trend: ['benchmark-jobs', 'trend'] as const,
}

export const reportAddress = (
  id: string,
  choice: ReportChoice,
  format: ReportFormat = 'json',
  table?: ReportTable,
): string => consoleUrl(`/api/benchmark-jobs/${encodeURIComponent(id)}/report`, { format, ...choice, table })

interface Compared extends ReportChoice {
  jobs: string
  baseline: string | undefined
  gate?: GateKind | undefined
  margin?: number | undefined
}

export const compareAddress = (compared: Compared, format: ReportFormat = 'json', table?: ReportTable): string =>
  consoleUrl('/api/benchmark-jobs/compare/report', {
    ...compared,
    baseline: compared.baseline || undefined,
    format,
    table,
  })

interface Trend extends ReportChoice {
  job: string
  agent: string | undefined
  model: string | undefined
  last: number
}

export const trendAddress = (trend: Trend, format: ReportFormat = 'json'): string =>
  consoleUrl('/api/benchmark-jobs/trend', { ...trend, format })

export const invalidateReports = (client: QueryClient): Promise<unknown> =>
  client.invalidateQueries({
    predicate: ({ queryKey: [kind, part] }) => kind === jobKeys.all[0] && reportParts.has(part),
  })

const reportParts = new Set<unknown>([jobKeys.report('')[1], jobKeys.compare[1], jobKeys.trend[1]])

const recentJobs = 20

const isActive = ({ state }: BenchmarkJob) => !hasJobEnded(state)

const jobList = (query: BenchmarkJobListQuery, api: Pick<Api, 'benchmarkJobs'>) => ({
  queryKey: [...jobKeys.lists, query],
  query,
  read: (query: BenchmarkJobListQuery, signal: AbortSignal) => api.benchmarkJobs.list({ query, signal }),
  rowsOf: ({ jobs }: BenchmarkJobList) => jobs,
  withRows: (page: BenchmarkJobList, jobs: readonly BenchmarkJob[]) => ({ ...page, jobs: [...jobs] }),
  isActive,
})

export const benchmarkJobQueries = {
  list: (query: BenchmarkJobListQuery, api: Pick<Api, 'benchmarkJobs'> = pageApi) => ({
    ...listPages({ ...jobList(query, api), refetchInterval: pollWhile(({ jobs }) => jobs.some(isActive)) }),
    refresh: (shown: () => Shown<BenchmarkJob>) => listRefresh(jobList(query, api), shown),
  }),

  get: (id: string) =>
    queryOptions({
      queryKey: jobKeys.one(id),
      queryFn: ({ signal }) => pageApi.benchmarkJobs.get({ params: { id }, signal }),
    }),

  report: (id: string, choice: ReportChoice, isActive: boolean) =>
    queryOptions({
      queryKey: [...jobKeys.report(id), choice, isActive],
      queryFn: ({ signal }) => fetchConsoleJson<Report>(reportAddress(id, choice), signal),
      // Keeps the metric select, and its focus, while the new figures load.
      placeholderData: (before, query) => (query?.queryKey[2] === id ? before : undefined),
    }),

  compare: (compared: Compared) =>
    queryOptions({
      queryKey: [...jobKeys.compare, compared],
      queryFn: ({ signal }) => fetchConsoleJson<CompareReport>(compareAddress(compared), signal),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state: { data } }) => (data?.complete === false ? 5_000 : false),
    }),

  trend: (trend: Trend) =>
    queryOptions({
      queryKey: [...jobKeys.trend, trend],
      queryFn: ({ signal }) => fetchConsoleJson<TrendReport>(trendAddress(trend), signal),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state: { data } }) => (data?.complete === false ? 5_000 : false),
    }),

  /** Names and metadata by id, without deleted scenarios. */
  scenarios: (id: string, ids: readonly string[]) =>
    queryOptions({
      queryKey: [...jobKeys.all, 'scenarios', id, ids.length] as const,
      queryFn: ({ signal }) => readDefinitions(id, ids, pageApi, signal),
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
    }),

  recent: () =>
    queryOptions({
      queryKey: [...jobKeys.all, 'recent'] as const,
      queryFn: async ({ signal }) => {
        const { jobs } = await pageApi.benchmarkJobs.list({ query: { limit: recentJobs }, signal })
        return jobs
          .filter(({ benchmark_outcomes }) => (benchmark_outcomes ?? []).length > 0)
          .map(({ id, name }) => ({ id, name }))
      },
      staleTime: 10_000,
    }),
}

export const followJob = (client: QueryClient, id: string): (() => void) =>
  followQuery(client, jobKeys.one(id), { endpoint: 'benchmarkJobs.get', params: { id } }, (job) =>
    readLeniently(BenchmarkJob, job),
  )

export const benchmarkJobMutations = {
  create: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'create'],
      /** Masks in the body are replaced by the values of the job `valuesOf`. */
      mutationFn: ({ valuesOf, ...body }: BenchmarkJobCreate & { valuesOf?: string }) =>
        (valuesOf ? browserApi({ benchmarkJobs }, { [valuesOfHeader]: valuesOf }) : pageApi).benchmarkJobs.create({
          body,
        }),
      onSuccess: (job, _body, _result, { client }) => {
        client.setQueryData(jobKeys.one(job.id), job)
        return client.invalidateQueries({ queryKey: jobKeys.lists })
      },
    }),

  setConcurrency: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'set-concurrency'],
      mutationFn: ({ id, n_concurrent_trials }: { id: string; n_concurrent_trials: number }) =>
        pageApi.benchmarkJobs.setConcurrency({ params: { id }, body: { n_concurrent_trials } }),
      onSuccess: (job, _body, _result, { client }) => client.setQueryData(jobKeys.one(job.id), job),
    }),

  import: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'import'],
      mutationFn: ({ file, choices, ...options }: { file: File; choices: BenchmarkJobImport } & UploadOptions) =>
        importJob(file, choices, options),
      onSuccess: (_imported, _given, _result, { client }) => client.invalidateQueries({ queryKey: jobKeys.lists }),
    }),

  readReport: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'read-report'],
      mutationFn: async (address: string) => (await fetchWithSession(address)).blob(),
    }),

  reveal: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'reveal'],
      mutationFn: async (body: { job_id: string; pointer: (string | number)[] }) =>
        (await sendToConsole<{ value: unknown }>('POST', '/api/reveal', body)).value,
      // Revealed values must not stay in memory.
      gcTime: 0,
    }),
}

const importJob = async (
  archive: Blob,
  choices: BenchmarkJobImport,
  options: UploadOptions,
): Promise<BenchmarkJobImported> => {
  const parts = Object.fromEntries(Object.entries(choices).filter(([, value]) => value.trim() !== ''))
  try {
    const answer = await sendForm(benchmarkJobs.import.path, parts, archive, options)
    return readLeniently(BenchmarkJobImported, JSON.parse(answer))
  } catch (error) {
    // Only Devdeck's service has this endpoint.
    if (error instanceof ApiError && [404, 405, 501].includes(error.status))
      throw new ApiError(error.code, error.status, "This service can't import jobs. Use Devdeck's local service.", {
        cause: error,
      })
    throw error
  }
}
