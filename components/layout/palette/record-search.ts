import { queryOptions } from '@tanstack/react-query'
import { listDevboxes } from '#components/devboxes/queries.ts'
import { recordingAddress } from '#components/recordings/queries.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { fetchConsoleJson } from '#lib/browser/api/console-api.ts'
import { isMissing } from '#lib/browser/api/failures.ts'
import { contains } from '#lib/browser/lists/row-filters.ts'
import { axons } from '#lib/contract/axons.ts'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { benchmarks } from '#lib/contract/benchmarks.ts'
import { devboxes, isOfTrial } from '#lib/contract/devboxes.ts'
import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { scenarios } from '#lib/contract/scenarios.ts'
import { snapshots } from '#lib/contract/snapshots.ts'
import { type Recording, type RecordingList, titleOf } from '#lib/protocol/recordings.ts'

const pageApi = browserApi({
  axons,
  benchmarkJobs,
  benchmarkRuns,
  benchmarks,
  devboxes,
  scenarioRuns,
  scenarios,
  snapshots,
})
type Api = typeof pageApi

interface Named {
  id: string
  name?: string | null | undefined
}

interface Call {
  params: { id: string }
  signal: AbortSignal
}

interface ListQuery {
  limit: number
  include_total_count: boolean
  search?: string
}

interface Page {
  rows: readonly Named[]
  has_more: boolean
  /** The best matches may be missing. */
  isPartial?: boolean
}

/** How to find one kind of record by id or by part of its name. */
interface Kind<Item extends Named> {
  prefixes: readonly string[]
  get: (api: Api, call: Call) => Promise<Item>
  list?: (api: Api, query: ListQuery, signal: AbortSignal) => Promise<Page>
  href: (record: Item) => string
}

const kind = <Item extends Named>(kind: Kind<Item>) => kind as unknown as Kind<Named>

const maxPerKind = 5
const few = { limit: maxPerKind, include_total_count: false }
export const maxSearched = 200
const newest = { limit: maxSearched, include_total_count: false }

/** Lists own devboxes first, because hundreds of trials may share a name. */
const listOwnFirst = async (api: Api, query: ListQuery, signal: AbortSignal): Promise<Page> => {
  const own = await listDevboxes(api, { ...query, origin: 'own' }, signal)
  if (own.devboxes.some(isOfTrial)) {
    // The service ignores the origin filter, so own devboxes may be on any page.
    const { devboxes, has_more } = await listDevboxes(api, { ...query, limit: maxSearched }, signal)
    const rows = devboxes.toSorted((one, other) => Number(isOfTrial(one)) - Number(isOfTrial(other)))
    return { rows, has_more, isPartial: has_more }
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
    prefixes: ['axn'],
    get: (api, call) => api.axons.get(call),
    list: async (api, query, signal) => {
      const { axons: rows, has_more } = await api.axons.list({ query, signal })
      return { rows, has_more }
    },
    href: ({ id }) => paths.axon(id),
  }),
  'benchmark job': kind({
    prefixes: ['bmj'],
    get: (api, call) => api.benchmarkJobs.get(call),
    list: async (api, { search: name, ...query }, signal) => {
      const { jobs: rows, has_more } = await api.benchmarkJobs.list({ query: { ...query, name }, signal })
      return { rows, has_more }
    },
    href: ({ id }) => paths.benchmarkJob(id),
  }),
  'benchmark run': kind({
    prefixes: ['bmr'],
    get: (api, call) => api.benchmarkRuns.get(call),
    list: async (api, query, signal) => {
      const { runs: rows, has_more } = await api.benchmarkRuns.list({ query, signal })
      return { rows, has_more }
    },
    href: ({ id }) => paths.benchmarkRun(id),
  }),
  benchmark: kind({
    // Unspecified: the prefix of benchmark ids; the local service uses bmd, others bmk.
    prefixes: ['bmd', 'bmk'],
    get: (api, call) => api.benchmarks.get(call),
    list: async (api, query, signal) => {
      const { benchmarks: rows, has_more } = await api.benchmarks.list({ query, signal })
      return { rows, has_more }
    },
    href: ({ name }) => paths.benchmarks({ search: name.slice(0, 256) }),
  }),
  scenario: kind({
    prefixes: ['scn'],
    get: (api, call) => api.scenarios.get(call),
    list: async (api, query, signal) => {
      const { scenarios: rows, has_more } = await api.scenarios.list({ query, signal })
      return { rows, has_more }
    },
    href: ({ id }) => paths.scenario(id),
  }),
  'scenario run': kind({
    prefixes: ['scr'],
    get: (api, call) => api.scenarioRuns.get(call),
    href: ({ benchmark_run_id, devbox_id }) =>
      benchmark_run_id ? paths.benchmarkRun(benchmark_run_id) : paths.devbox(devbox_id),
  }),
  snapshot: kind({
    prefixes: ['snp'],
    get: async (api, call) => ({
      id: call.params.id,
      name: (await api.snapshots.status(call)).snapshot?.name,
    }),
    // Unspecified: whether snapshots can be searched. The local service has no such filter.
    list: async (api, query, signal) => {
      const { snapshots: rows, has_more } = await api.snapshots.list({ query, signal })
      return { rows, has_more }
    },
    href: ({ id }) => paths.snapshot(id),
  }),
}

export type ResultKind = keyof typeof kinds | 'recording'

const entries = Object.entries(kinds) as [keyof typeof kinds, Kind<Named>][]
const prefixes = entries.flatMap(([, kind]) => kind.prefixes)
const knownId = new RegExp(`(?<![A-Za-z0-9])(${prefixes.join('|')})_[A-Za-z0-9_-]{1,250}`)

/** The kind of the first id in a text, such as an address or a log line. */
export const kindOfId = (text: string): ResultKind | undefined => {
  const prefix = knownId.exec(text)?.[1] ?? ''
  return entries.find(([, kind]) => kind.prefixes.includes(prefix))?.[0]
}

/** The first id in a text. */
export const idIn = (text: string): string | undefined => knownId.exec(text)?.[0]

export interface SearchResult {
  kind: ResultKind
  id: string
  /** The id if it has no name. */
  name: string
  href: string
}

export interface SearchResults {
  results: SearchResult[]
  /** Kinds whose search failed. */
  failed: ResultKind[]
  /** Kinds where only the newest records were searched. */
  partial: ResultKind[]
}

/** Finds a few records of each kind by part of their name, or one by its id. */
export const recordSearch = (text: string, api: Api = pageApi, recordings = readRecordings) =>
  queryOptions({
    queryKey: ['record-search', text],
    queryFn: async ({ signal }): Promise<SearchResults> => {
      const partial: ResultKind[] = []
      const id = idIn(text)
      const searches =
        id === undefined
          ? searchesByName(text.slice(0, 256), api, recordings, (kind) => partial.push(kind))
          : [searchById(id, api)]
      const answers = await Promise.allSettled(searches.map(({ find }) => find(signal)))
      return {
        results: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
        failed: searches.flatMap(({ kind }, i) => {
          const answer = answers[i]
          return answer?.status === 'rejected' && !isMissing(answer.reason) ? [kind] : []
        }),
        partial,
      }
    },
    staleTime: 10_000,
    refetchInterval: false,
  })

interface Search {
  kind: ResultKind
  find: (signal: AbortSignal) => Promise<SearchResult[]>
}

const resultOf = (kind: keyof typeof kinds, record: Named): SearchResult => ({
  kind,
  id: record.id,
  name: record.name || record.id,
  href: kinds[kind].href(record),
})

const searchById = (id: string, api: Api): Search => {
  const kind = kindOfId(id) as keyof typeof kinds
  return { kind, find: async (signal) => [resultOf(kind, await kinds[kind].get(api, { params: { id }, signal }))] }
}

type OnPartial = (kind: ResultKind) => void

const searchesByName = (text: string, api: Api, recordings: RecordingReader, onPartial: OnPartial): Search[] => [
  ...entries.flatMap(([kind, { list }]): Search[] => {
    if (!list) return []
    const find = async (signal: AbortSignal) =>
      (
        await findByName(
          text,
          (query) => list(api, query, signal),
          () => onPartial(kind),
        )
      ).map((record) => resultOf(kind, record))
    return [{ kind, find }]
  }),
  recordingSearch(text, recordings),
]

/** If the service ignores the search, the newest records are filtered here instead. */
const findByName = async (search: string, list: (query: ListQuery) => Promise<Page>, onPartial: () => void) => {
  const matches = ({ id, name }: Named) => contains(id, search) || contains(name, search)
  let page = await list({ ...few, search })
  const isIgnored = !page.rows.every(matches)
  if (isIgnored && page.has_more) page = await list({ ...newest, search })
  if (isIgnored ? page.has_more : page.isPartial) onPartial()
  return page.rows.filter(matches).slice(0, maxPerKind)
}

type RecordingReader = (signal: AbortSignal) => Promise<readonly Recording[]>

const readRecordings: RecordingReader = async (signal) =>
  (await fetchConsoleJson<RecordingList>(recordingAddress(), signal)).recordings

const recordingSearch = (text: string, read: RecordingReader): Search => ({
  kind: 'recording',
  find: async (signal) => {
    const named = (await read(signal)).map((recording) => ({ id: recording.id, name: titleOf(recording) }))
    return named
      .filter(({ id, name }) => id === text || contains(name, text))
      .slice(0, maxPerKind)
      .map(({ id, name }) => ({ kind: 'recording', id, name, href: paths.recording(id) }))
  },
})
