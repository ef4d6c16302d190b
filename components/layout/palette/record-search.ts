import { queryOptions } from '@tanstack/react-query'
import { listDevboxes } from '#components/devboxes/queries.ts'
import { recordingAddress } from '#components/recordings/queries.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { fetchConsoleJson } from '#lib/browser/api/console-api.ts'
import { isMissing, isUnsupported } from '#lib/browser/api/failures.ts'
import { contains } from '#lib/browser/lists/row-filters.ts'
import { agents } from '#lib/contract/agents.ts'
import { axons } from '#lib/contract/axons.ts'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { benchmarks } from '#lib/contract/benchmarks.ts'
import { blueprints } from '#lib/contract/blueprints.ts'
import { type Devbox, devboxes, isOfTrial } from '#lib/contract/devboxes.ts'
import { networkPolicies } from '#lib/contract/network-policies.ts'
import { objects } from '#lib/contract/objects.ts'
import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { scenarios } from '#lib/contract/scenarios.ts'
import { secrets } from '#lib/contract/secrets.ts'
import { snapshots } from '#lib/contract/snapshots.ts'
import { type Recording, type RecordingList, titleOf } from '#lib/protocol/recordings.ts'
import type { ServiceSupport } from '#lib/protocol/support.ts'
import { rankOf } from './entries.ts'

const pageApi = browserApi({
  agents,
  axons,
  benchmarkJobs,
  benchmarkRuns,
  benchmarks,
  blueprints,
  devboxes,
  networkPolicies,
  objects,
  scenarioRuns,
  scenarios,
  secrets,
  snapshots,
})
type Api = typeof pageApi

interface Named {
  id: string
  name?: string | null | undefined
  initiator_type?: string | null | undefined
}

interface ListCall {
  query: { limit: number; include_total_count: boolean; search?: string }
  signal: AbortSignal
}

interface Page {
  rows: readonly Named[]
  has_more: boolean
}

/** How to find one kind of record by id or by part of its name. */
interface Kind<Item extends Named> {
  prefixes: readonly string[]
  /** Endpoint id of the contract. Not searched if the service is known not to offer it. */
  needs?: string
  get?: (api: Api, call: { params: { id: string }; signal: AbortSignal }) => Promise<Item>
  list?: (api: Api, call: ListCall) => Promise<Page>
  href: (record: Item) => string
}

const kind = <Item extends Named>(kind: Kind<Item>) => kind as unknown as Kind<Named>

const maxPerKind = 5
/** Number of matches to rank, because the exact name may not be the newest. */
const readPerKind = 50
export const maxSearched = 200

/** Lists own devboxes first, because hundreds of trials may share a name. */
const listOwnFirst = async (api: Api, { query, signal }: ListCall): Promise<Page> => {
  const own = await listDevboxes(api, { ...query, origin: 'own' }, signal)
  if (own.devboxes.some(isOfTrial)) {
    // The service ignores the origin filter, so own devboxes may be on any page.
    const { devboxes, has_more } = await listDevboxes(api, { ...query, limit: maxSearched }, signal)
    return { rows: devboxes.toSorted((one, other) => Number(isOfTrial(one)) - Number(isOfTrial(other))), has_more }
  }
  if (own.devboxes.length >= query.limit) return { rows: own.devboxes, has_more: own.has_more }
  const { devboxes, has_more } = await listDevboxes(api, { ...query, origin: 'trial' }, signal)
  return { rows: [...own.devboxes, ...devboxes.filter(isOfTrial)], has_more }
}

const kinds = {
  devbox: kind({
    prefixes: ['dbx'],
    get: (api, call) => api.devboxes.get(call),
    list: listOwnFirst,
    href: ({ id }) => paths.devbox(id),
  }),
  axon: kind({
    needs: 'axons.list',
    prefixes: ['axn'],
    get: (api, call) => api.axons.get(call),
    list: (api, call) => api.axons.list(call).then(({ axons: rows, has_more }) => ({ rows, has_more })),
    href: ({ id }) => paths.axon(id),
  }),
  'benchmark job': kind({
    needs: 'benchmarkJobs.list',
    prefixes: ['bmj'],
    get: (api, call) => api.benchmarkJobs.get(call),
    list: async (api, { query: { search: name, ...query }, signal }) => {
      const { jobs: rows, has_more } = await api.benchmarkJobs.list({ query: { ...query, name }, signal })
      return { rows, has_more }
    },
    href: ({ id }) => paths.benchmarkJob(id),
  }),
  'benchmark run': kind({
    needs: 'benchmarkRuns.list',
    prefixes: ['bmr'],
    get: (api, call) => api.benchmarkRuns.get(call),
    list: (api, call) => api.benchmarkRuns.list(call).then(({ runs: rows, has_more }) => ({ rows, has_more })),
    href: ({ id }) => paths.benchmarkRun(id),
  }),
  benchmark: kind({
    needs: 'benchmarks.list',
    // Unspecified: the prefix of benchmark ids; the local service uses bmd, others bmk.
    prefixes: ['bmd', 'bmk'],
    get: (api, call) => api.benchmarks.get(call),
    list: (api, call) => api.benchmarks.list(call).then(({ benchmarks: rows, has_more }) => ({ rows, has_more })),
    href: ({ name }) => paths.benchmarks({ search: name.slice(0, 256) }),
  }),
  scenario: kind({
    needs: 'scenarios.list',
    prefixes: ['scn'],
    get: (api, call) => api.scenarios.get(call),
    list: (api, call) => api.scenarios.list(call).then(({ scenarios: rows, has_more }) => ({ rows, has_more })),
    href: ({ id }) => paths.scenario(id),
  }),
  'scenario run': kind({
    prefixes: ['scr'],
    get: (api, call) => api.scenarioRuns.get(call),
    href: ({ benchmark_run_id, devbox_id }) =>
      benchmark_run_id ? paths.benchmarkRun(benchmark_run_id) : paths.devbox(devbox_id),
  }),
  snapshot: kind({
    needs: 'snapshots.list',
    prefixes: ['snp'],
    get: async (api, call) => ({ id: call.params.id, name: (await api.snapshots.status(call)).snapshot?.name }),
    // Unspecified: whether snapshots can be searched. The local service has no such filter.
    list: (api, call) => api.snapshots.list(call).then(({ snapshots: rows, has_more }) => ({ rows, has_more })),
    href: ({ id }) => paths.snapshot(id),
  }),
  blueprint: kind({
    needs: 'blueprints.list',
    prefixes: ['bpt', 'bp'],
    get: (api, call) => api.blueprints.get(call),
    list: (api, call) => api.blueprints.list(call).then(({ blueprints: rows, has_more }) => ({ rows, has_more })),
    href: ({ id }) => paths.blueprint(id),
  }),
  agent: kind({
    needs: 'agents.list',
    prefixes: ['agt'],
    get: (api, call) => api.agents.get(call),
    list: (api, call) => api.agents.list(call).then(({ agents: rows, has_more }) => ({ rows, has_more })),
    href: ({ id, name }) => paths.agents({ search: (name || id).slice(0, 256) }),
  }),
  object: kind({
    needs: 'objects.list',
    prefixes: ['obj'],
    get: (api, call) => api.objects.get(call),
    list: (api, call) => api.objects.list(call).then(({ objects: rows, has_more }) => ({ rows, has_more })),
    href: ({ id, name }) => paths.objects({ search: (name || id).slice(0, 256) }),
  }),
  'network policy': kind({
    needs: 'networkPolicies.list',
    prefixes: ['npl'],
    get: (api, call) => api.networkPolicies.get(call),
    list: async (api, call) => {
      const { network_policies: rows, has_more } = await api.networkPolicies.list(call)
      return { rows, has_more }
    },
    href: ({ id }) => paths.networkPolicy(id),
  }),
  secret: kind({
    needs: 'secrets.list',
    // Secrets are read by name.
    prefixes: [],
    list: async (api, { query: { limit }, signal }) => {
      const { secrets: rows, has_more } = await api.secrets.list({ query: { limit }, signal })
      return { rows, has_more }
    },
    href: ({ name }) => paths.secrets({ search: (name ?? '').slice(0, 256) }),
  }),
}

export type ResultKind = keyof typeof kinds | 'recording'

const entries = Object.entries(kinds) as [keyof typeof kinds, Kind<Named>][]
const prefixes = entries.flatMap(([, kind]) => kind.prefixes)
const knownId = new RegExp(`(?<![A-Za-z0-9])(${prefixes.join('|')})_[A-Za-z0-9_-]{1,250}`)

const kindIn = (text: string) => {
  const prefix = knownId.exec(text)?.[1] ?? ''
  return entries.find(([, kind]) => kind.prefixes.includes(prefix))?.[0]
}

/** The kind of the first id in a text, such as an address or a log line. */
export const kindOfId: (text: string) => ResultKind | undefined = kindIn

export const idIn = (text: string): string | undefined => knownId.exec(text)?.[0]

export interface SearchResult {
  kind: ResultKind
  id: string
  /** The id if it has no name. */
  name: string
  href: string
  /** For a devbox of a benchmark trial. */
  isOfTrial?: true
}

interface Found {
  results: SearchResult[]
  isPartial?: boolean
}

export interface SearchResults {
  results: SearchResult[]
  failed: ResultKind[]
  partial: ResultKind[]
}

const resultOf = (kind: keyof typeof kinds, record: Named): SearchResult => ({
  kind,
  id: record.id,
  name: record.name || record.id,
  href: kinds[kind].href(record),
  ...(kind === 'devbox' && isOfTrial(record as Devbox) ? { isOfTrial: true } : {}),
})

/** Own records before those of trials; exact names before the starts of names, parts of names, and ids. */
const bestFirst =
  (search: string) =>
  (one: SearchResult, other: SearchResult): number => {
    const isTrial = ({ isOfTrial }: SearchResult) => Number(isOfTrial === true)
    return isTrial(one) - isTrial(other) || rankOf(other.name, search) - rankOf(one.name, search)
  }

/** Finds a few records of each kind by part of their name, or one by its id. */
export const recordSearch = (
  text: string,
  api: Api = pageApi,
  recordings = readRecordings,
  operations: ServiceSupport['operations'] = {},
) =>
  queryOptions({
    queryKey: ['record-search', text],
    queryFn: async ({ signal }): Promise<SearchResults> => {
      const id = idIn(text)
      const kindOfText = kindIn(text)
      const searches: [ResultKind, Promise<Found>][] =
        id !== undefined && kindOfText
          ? [[kindOfText, findById(kindOfText, id, api, signal)]]
          : [
              ...entries.flatMap(([kind, { list, needs = '' }]): [ResultKind, Promise<Found>][] =>
                list && operations[needs] !== 'no'
                  ? [[kind, findByName(kind, text.slice(0, 256), (query) => list(api, { query, signal }))]]
                  : [],
              ),
              ['recording', findRecordings(text, recordings(signal))],
            ]
      const answers = await Promise.allSettled(searches.map(([, found]) => found))
      const kindsWhere = (is: (answer: PromiseSettledResult<Found>) => boolean) =>
        searches.flatMap(([kind], at) => (is(answers[at] as PromiseSettledResult<Found>) ? kind : []))
      return {
        results: answers
          .flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.results : []))
          .sort(bestFirst(text)),
        failed: kindsWhere(
          (answer) => answer.status === 'rejected' && !isMissing(answer.reason) && !isUnsupported(answer.reason),
        ),
        partial: kindsWhere((answer) => answer.status === 'fulfilled' && answer.value.isPartial === true),
      }
    },
    staleTime: 10_000,
    refetchInterval: false,
  })

const findById = async (kind: keyof typeof kinds, id: string, api: Api, signal: AbortSignal): Promise<Found> => {
  const record = await kinds[kind].get?.(api, { params: { id }, signal })
  return { results: record ? [resultOf(kind, record)] : [] }
}

/** If the service ignores the search, the newest records are filtered here instead. */
const findByName = async (
  kind: keyof typeof kinds,
  search: string,
  list: (query: ListCall['query']) => Promise<Page>,
): Promise<Found> => {
  const matches = ({ id, name }: Named) => contains(id, search) || contains(name, search)
  let page = await list({ limit: readPerKind, include_total_count: false, search })
  const isIgnored = !page.rows.every(matches)
  if (isIgnored && page.has_more) page = await list({ limit: maxSearched, include_total_count: false, search })
  const results = page.rows
    .filter(matches)
    .map((record) => resultOf(kind, record))
    .sort(bestFirst(search))
    .slice(0, maxPerKind)
  return { results, isPartial: isIgnored && page.has_more }
}

const readRecordings = async (signal: AbortSignal): Promise<readonly Recording[]> =>
  (await fetchConsoleJson<RecordingList>(recordingAddress(), signal)).recordings

const findRecordings = async (text: string, reading: Promise<readonly Recording[]>): Promise<Found> => ({
  results: (await reading)
    .map((recording) => ({ id: recording.id, name: titleOf(recording) }))
    .filter(({ id, name }) => id === text || contains(name, text))
    .slice(0, maxPerKind)
    .map(({ id, name }) => ({ kind: 'recording', id, name, href: paths.recording(id) })),
})
