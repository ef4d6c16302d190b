import type { AgentListQuery } from '#lib/contract/agents.ts'
import type { AxonListQuery } from '#lib/contract/axons.ts'
import type { BenchmarkJobListQuery } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import type { BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import type { BlueprintListQuery } from '#lib/contract/blueprints.ts'
import type { DevboxListQuery } from '#lib/contract/devboxes.ts'
import type { ConfigListQuery } from '#lib/contract/gateway-configs.ts'
import type { NetworkPolicyListQuery } from '#lib/contract/network-policies.ts'
import type { ObjectListQuery } from '#lib/contract/objects.ts'
import type { ScenarioListQuery } from '#lib/contract/scenarios.ts'
import type { SnapshotListQuery } from '#lib/contract/snapshots.ts'
import { encodePath } from './encode-path.ts'
import { pageDefaults, searchOf } from './search.ts'

interface PeriodParams {
  period?: string | undefined
  from_ms?: number | undefined
  to_ms?: number | undefined
}

interface AlertHistoryParams extends PeriodParams {
  kind?: string | undefined
  state?: string | undefined
  outcome?: string | undefined
  search?: string | undefined
  starting_after?: string | undefined
  sort?: string | undefined
}

export const paths = {
  overview: () => '/',
  devboxes: (query: Partial<DevboxListQuery> = {}) => `/devboxes${searchOf(query, pageDefaults)}`,
  devbox: (id: string, tab?: string, query: object = {}) =>
    `/devboxes/${encodeURIComponent(id)}${tab ? `/${tab}` : ''}${searchOf(query)}`,
  /** The Files tab at a file. Paths are absolute, relative to the home folder, or below `~`; one that ends with a slash is a folder. */
  devboxFile: (id: string, path: string, line?: number) => {
    const slash = path.lastIndexOf('/')
    const [folder, file] = [path.slice(0, slash === 0 ? 1 : Math.max(slash, 0)), path.slice(slash + 1)]
    return `/devboxes/${encodeURIComponent(id)}/files${searchOf({
      path: encodePath(folder) || undefined,
      file: encodePath(file) || undefined,
      line,
    })}`
  },
  /** The Terminal tab, with a new shell in a folder. */
  devboxTerminal: (id: string, { cwd }: { cwd?: string | undefined } = {}) =>
    `/devboxes/${encodeURIComponent(id)}/terminal${searchOf({ cwd: cwd && encodePath(cwd) })}`,
  snapshots: (query: Partial<SnapshotListQuery> & { search?: string | undefined } = {}) =>
    `/snapshots${searchOf(query, pageDefaults)}`,
  snapshot: (id: string) => `/snapshots${searchOf({ snapshot: id })}`,
  blueprints: (query: Partial<BlueprintListQuery> = {}) => `/blueprints${searchOf(query, pageDefaults)}`,
  blueprint: (id: string, tab?: 'log') => `/blueprints/${encodeURIComponent(id)}${tab ? `/${tab}` : ''}`,
  agents: (query: Partial<AgentListQuery> & { scope?: string | undefined } = {}) =>
    `/agents${searchOf(query, pageDefaults)}`,
  objects: (query: Partial<ObjectListQuery> = {}) => `/objects${searchOf(query, pageDefaults)}`,
  axons: (query: Partial<AxonListQuery> = {}) => `/axons${searchOf(query, pageDefaults)}`,
  axon: (id: string, tab?: 'events' | 'sql', event?: number) =>
    `/axons/${encodeURIComponent(id)}${tab ? `/${tab}` : ''}${searchOf({ event })}`,
  benchmarkJobs: (query: Partial<BenchmarkJobListQuery> = {}) => `/benchmark-jobs${searchOf(query, pageDefaults)}`,
  benchmarkJob: (id: string) => `/benchmark-jobs/${encodeURIComponent(id)}`,
  /** The first job is the baseline. */
  compare: (jobs: readonly string[] = []) =>
    `/benchmark-jobs/compare${searchOf({ jobs: jobs.join(',') || undefined })}`,
  trend: () => '/benchmark-jobs/trend',
  sideBySide: () => '/benchmark-jobs/side-by-side',
  benchmarks: (query: Partial<BenchmarkListQuery> = {}) => `/benchmarks${searchOf(query, pageDefaults)}`,
  scenarios: (query: Partial<ScenarioListQuery> = {}) => `/benchmarks/scenarios${searchOf(query, pageDefaults)}`,
  scenario: (id: string) => `/benchmarks/scenarios/${encodeURIComponent(id)}`,
  benchmarkRuns: (query: Partial<BenchmarkRunListQuery> = {}) => `/benchmark-runs${searchOf(query, pageDefaults)}`,
  benchmarkRun: (id: string) => `/benchmark-runs/${encodeURIComponent(id)}`,
  evictions: (query: { alert?: string } = {}) => `/evictions${searchOf(query, pageDefaults)}`,
  alert: (id: string) => `/evictions/${encodeURIComponent(id)}`,
  evictionHistory: (query: AlertHistoryParams = {}) => `/evictions/history${searchOf(query, pageDefaults)}`,
  shiftReport: (query: PeriodParams = {}) => `/evictions/report${searchOf(query)}`,
  cluster: (query: { node?: string } = {}) => `/cluster${searchOf(query)}`,
  recordings: (query: { sort?: string | undefined } = {}) => `/recordings${searchOf(query)}`,
  recording: (id: string) => `/recordings/${encodeURIComponent(id)}`,
  activity: (query: { search?: string; outcome?: string; starting_after?: string; sort?: string } = {}) =>
    `/activity${searchOf(query, pageDefaults)}`,
  settings: () => '/settings',
  shortcuts: () => '/settings/shortcuts',
  service: () => '/settings/service',
  secrets: (query: { search?: string | undefined } = {}) => `/settings/secrets${searchOf(query)}`,
  networkPolicies: (query: Partial<NetworkPolicyListQuery> = {}) =>
    `/settings/network-policies${searchOf(query, pageDefaults)}`,
  networkPolicy: (id: string) => `/settings/network-policies${searchOf({ policy: id })}`,
  gateways: (query: Partial<ConfigListQuery> = {}) => `/settings/gateways${searchOf(query, pageDefaults)}`,
  gateway: (id: string) => `/settings/gateways${searchOf({ config: id })}`,
  mcpServers: (query: Partial<ConfigListQuery> = {}) => `/settings/mcp-servers${searchOf(query, pageDefaults)}`,
  mcpServer: (id: string) => `/settings/mcp-servers${searchOf({ config: id })}`,
  apiKeys: () => '/settings/api-keys',
  personalKeys: (query: { search?: string | undefined; sort?: string | undefined } = {}) =>
    `/settings/personal-keys${searchOf(query)}`,
  sessions: (query: { search?: string | undefined; sort?: string | undefined } = {}) =>
    `/settings/sessions${searchOf(query)}`,
  docs: () => '/docs',
  doc: (page: string, anchor = '') => `/docs/${page}${anchor && `#${anchor}`}`,
  signIn: (next?: string, problem?: 'key-refused') => `/sign-in${searchOf({ next, problem })}`,
  addAccount: () => '/sign-in?add=1',
}

/** `next` if it is a page of this console. Rejects what a browser might read as another origin: `//host`, `/\host`, control characters. */
export const safeNext = (next: string | null | undefined): string => {
  if (!next || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(next)) return paths.overview()
  return /^\/(api|sign-in)(\/|\?|$)/.test(next) ? paths.overview() : next
}
