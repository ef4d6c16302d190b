import { keepPreviousData, mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { consoleUrl, fetchConsoleJson, fetchWithSession, sendToConsole } from '#lib/browser/api/console-api.ts'
import type { UploadOptions } from '#lib/browser/api/upload.ts'
import { followQuery } from '#lib/browser/live/follow-query.ts'
import { listPages, listRefresh, pollWhile, type Shown } from '#lib/browser/queries/list/pages.ts'
import {
  BenchmarkJob,
  type BenchmarkJobCreate,
  type BenchmarkJobImport,
  type BenchmarkJobList,
  type BenchmarkJobListQuery,
  benchmarkJobs,
  hasJobEnded,
} from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { valuesOfHeader } from '#lib/protocol/mask.ts'
import type {
  CompareReport,
  Report,
  ReportChoice,
  ReportFormat,
  ReportTable,
  TrendReport,
} from '#lib/protocol/reports.ts'

const pageApi = browserApi({ benchmarkJobs })
type Api = typeof pageApi

const jobKeys = {
  all: ['benchmark-jobs'] as const,
  lists: ['benchmark-jobs', 'list'] as const,
  one: (id: string) => ['benchmark-jobs', 'get', id] as const,
  report: (id: string) => ['benchmark-jobs', 'report', id] as const,
  compare: ['benchmark-jobs', 'compare'] as const,
  trend: ['benchmark-jobs', 'trend'] as const,
}

/** Where the console judges a job; scripts and papers read it as well. */
export const reportAddress = (
  id: string,
  choice: ReportChoice,
  format: ReportFormat = 'json',
  table?: ReportTable,
): string => consoleUrl(`/api/benchmark-jobs/${encodeURIComponent(id)}/report`, { format, ...choice, table })

/** What is compared: ids of jobs with commas between them, and with which of them or of their runs. */
interface Compared extends ReportChoice {
  jobs: string
  baseline: string | undefined
}

export const compareAddress = (compared: Compared, format: ReportFormat = 'json', table?: ReportTable): string =>
  consoleUrl('/api/benchmark-jobs/compare', {
    ...compared,
    baseline: compared.baseline || undefined,
    format,
    table,
  })

/** Of which agent, on the data set of which job, over how many jobs. */
interface Trend extends ReportChoice {
  job: string
  agent: string | undefined
  model: string | undefined
  last: number
}

export const trendAddress = (trend: Trend, format: ReportFormat = 'json'): string =>
  consoleUrl('/api/benchmark-jobs/trend', { ...trend, format })

/** Jobs whose data set can be chosen without their ids. */
const recentJobs = 20

const goesOn = ({ state }: BenchmarkJob) => !hasJobEnded(state)

const jobList = (query: BenchmarkJobListQuery, api: Api) => ({
  queryKey: [...jobKeys.lists, query],
  query,
  read: (query: BenchmarkJobListQuery, signal: AbortSignal) => api.benchmarkJobs.list({ query, signal }),
  rowsOf: ({ jobs }: BenchmarkJobList) => jobs,
  withRows: (page: BenchmarkJobList, jobs: readonly BenchmarkJob[]) => ({ ...page, jobs: [...jobs] }),
  goesOn,
})

export const benchmarkJobQueries = {
  /** The pages of a list from `query.starting_after` on; looked at often while one of its jobs goes on. */
  list: (query: BenchmarkJobListQuery, api: Api = pageApi) =>
    listPages({ ...jobList(query, api), refetchInterval: pollWhile(({ jobs }) => jobs.some(goesOn)) }),

  refresh: (query: BenchmarkJobListQuery, shown: () => Shown<BenchmarkJob>) =>
    listRefresh(jobList(query, pageApi), shown),

  get: (id: string) =>
    queryOptions({
      queryKey: jobKeys.one(id),
      queryFn: ({ signal }) => pageApi.benchmarkJobs.get({ params: { id }, signal }),
    }),

  /** The numbers of a job; its outcomes are those of the moment it is asked for. */
  report: (id: string, choice: ReportChoice) =>
    queryOptions({
      queryKey: [...jobKeys.report(id), choice],
      queryFn: ({ signal }) => fetchConsoleJson<Report>(reportAddress(id, choice), signal),
      // The choice of a metric stays in place, with the focus, while the numbers of it are read.
      placeholderData: (before, query) => (query?.queryKey[2] === id ? before : undefined),
    }),

  /** Read again while one of the jobs goes on. */
  compare: (compared: Compared) =>
    queryOptions({
      queryKey: [...jobKeys.compare, compared],
      queryFn: ({ signal }) => fetchConsoleJson<CompareReport>(compareAddress(compared), signal),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state: { data } }) => (data?.complete === false ? 5_000 : false),
    }),

  /** Read again while a job on the data set goes on. */
  trend: (trend: Trend) =>
    queryOptions({
      queryKey: [...jobKeys.trend, trend],
      queryFn: ({ signal }) => fetchConsoleJson<TrendReport>(trendAddress(trend), signal),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state: { data } }) => (data?.complete === false ? 5_000 : false),
    }),

  /** Names and metadata of the scenarios of a job, by their ids; those the service no longer lists are left out. */
  scenarios: (id: string, ids: readonly string[]) =>
    queryOptions({
      queryKey: [...jobKeys.all, 'scenarios', id, ids.length] as const,
      // The schemas of definitions are large, and most who look at a job do without.
      queryFn: async ({ signal }) => (await import('../scenarios/definitions.ts')).readDefinitions(id, ids, signal),
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
    }),

  /** The newest jobs of which something can be said. */
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

/** Keeps `benchmarkJobQueries.get` up to date until the returned function is called. */
export const followJob = (client: QueryClient, id: string): (() => void) =>
  followQuery(client, jobKeys.one(id), { endpoint: 'benchmarkJobs.get', params: { id } }, (job) =>
    readLeniently(BenchmarkJob, job),
  )

export const benchmarkJobMutations = {
  create: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'create'],
      /** `valuesOf` is the job whose hidden values take the place of masks in the body. */
      mutationFn: ({ valuesOf, ...body }: BenchmarkJobCreate & { valuesOf?: string }) =>
        (valuesOf ? browserApi({ benchmarkJobs }, { [valuesOfHeader]: valuesOf }) : pageApi).benchmarkJobs.create({
          body,
        }),
      onSuccess: (job, _body, _result, { client }) => {
        client.setQueryData(jobKeys.one(job.id), job)
        return client.invalidateQueries({ queryKey: jobKeys.lists })
      },
    }),

  /** How many trials of a job run at once from now on. */
  setConcurrency: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'set-concurrency'],
      mutationFn: ({ id, n_concurrent_trials }: { id: string; n_concurrent_trials: number }) =>
        pageApi.benchmarkJobs.setConcurrency({ params: { id }, body: { n_concurrent_trials } }),
      onSuccess: (job, _body, _result, { client }) => client.setQueryData(jobKeys.one(job.id), job),
    }),

  /** Uploads the zip of a job that ran elsewhere. */
  import: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'import'],
      mutationFn: async ({ file, choices, ...options }: { file: File; choices: BenchmarkJobImport } & UploadOptions) =>
        (await import('../import/import-job.ts')).importJob(file, choices, options),
      onSuccess: (_imported, _given, _result, { client }) => client.invalidateQueries({ queryKey: jobKeys.lists }),
    }),

  /** A report as a file, once. */
  readReport: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'read-report'],
      mutationFn: async (address: string) => (await fetchWithSession(address)).blob(),
    }),

  /** The value behind a mask, named by the fields of the job that lead to it. */
  reveal: () =>
    mutationOptions({
      mutationKey: [...jobKeys.all, 'reveal'],
      mutationFn: async (body: { job_id: string; pointer: (string | number)[] }) =>
        (await sendToConsole<{ value: unknown }>('POST', '/api/reveal', body)).value,
      // A value that was asked for once does not stay in memory for the next page.
      gcTime: 0,
    }),
}
