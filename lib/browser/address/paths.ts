import type { AxonListQuery } from '#lib/contract/axons.ts'
import type { BenchmarkJobListQuery } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import type { BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import type { DevboxListQuery } from '#lib/contract/devboxes.ts'
import type { ScenarioListQuery } from '#lib/contract/scenarios.ts'
import { pageDefaults, searchOf } from './search.ts'
import type { SnapshotListView } from './snapshot-list-view.ts'

/** The address of every page. */
export const paths = {
  overview: () => '/',
  devboxes: (query: Partial<DevboxListQuery> = {}) => `/devboxes${searchOf(query, pageDefaults)}`,
  devbox: (id: string, tab?: string, query: object = {}) =>
    `/devboxes/${encodeURIComponent(id)}${tab ? `/${tab}` : ''}${searchOf(query)}`,
  snapshots: (view: Partial<SnapshotListView> = {}) => `/snapshots${searchOf(view, pageDefaults)}`,
  /** The list with the sheet of one snapshot beside it. */
  snapshot: (id: string) => `/snapshots${searchOf({ snapshot: id })}`,
  axons: (query: Partial<AxonListQuery> = {}) => `/axons${searchOf(query, pageDefaults)}`,
  /** `event` is a sequence in the log of the axon. */
  axon: (id: string, tab?: string, event?: number) => `/axons/${encodeURIComponent(id)}${searchOf({ tab, event })}`,
  benchmarkJobs: (query: Partial<BenchmarkJobListQuery> = {}) => `/benchmark-jobs${searchOf(query, pageDefaults)}`,
  benchmarkJob: (id: string) => `/benchmark-jobs/${encodeURIComponent(id)}`,
  /** Jobs beside each other; the first is the baseline. */
  compare: (jobs: readonly string[] = []) =>
    `/benchmark-jobs/compare${searchOf({ jobs: jobs.join(',') || undefined })}`,
  trend: () => '/benchmark-jobs/trend',
  benchmarks: (query: Partial<BenchmarkListQuery> = {}) => `/benchmarks${searchOf(query, pageDefaults)}`,
  scenarios: (query: Partial<ScenarioListQuery> = {}) => `/benchmarks/scenarios${searchOf(query, pageDefaults)}`,
  scenario: (id: string) => `/benchmarks/scenarios/${encodeURIComponent(id)}`,
  benchmarkRuns: (query: Partial<BenchmarkRunListQuery> = {}) => `/benchmark-runs${searchOf(query, pageDefaults)}`,
  benchmarkRun: (id: string) => `/benchmark-runs/${encodeURIComponent(id)}`,
  /** `alert` is one to be shown among all. */
  evictions: (query: { alert?: string } = {}) => `/evictions${searchOf(query, pageDefaults)}`,
  evictionHistory: (query: { state?: string; search?: string; starting_after?: string } = {}) =>
    `/evictions/history${searchOf(query, pageDefaults)}`,
  recordings: () => '/recordings',
  recording: (id: string) => `/recordings/${encodeURIComponent(id)}`,
  activity: (query: { search?: string; outcome?: string; starting_after?: string } = {}) =>
    `/activity${searchOf(query, pageDefaults)}`,
  settings: () => '/settings',
  signIn: (next?: string, problem?: 'key-refused') => `/sign-in${searchOf({ next, problem })}`,
  /** To sign in to an account beside the one the browser is on. */
  addAccount: () => '/sign-in?add=1',
}

/**
 * Where to go after signing in: `next` when it is a page of this console, else the overview. Anything that a browser
 * could read as another origin (`//host`, `/\host`, control characters it would drop) is refused.
 */
export const safeNext = (next: string | null | undefined): string => {
  if (!next || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(next)) return paths.overview()
  return /^\/(api|sign-in)(\/|\?|$)/.test(next) ? paths.overview() : next
}
