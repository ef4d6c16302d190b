import { queryOptions } from '@tanstack/react-query'
import { axons } from '#lib/contract/axons.ts'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { benchmarks } from '#lib/contract/benchmarks.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { scenarios } from '#lib/contract/scenarios.ts'
import { snapshots } from '#lib/contract/snapshots.ts'
import { type Recording, type RecordingList, titleOf } from '#lib/wire/recordings.ts'
import { paths } from '../address/paths.ts'
import { readConsole } from '../api/ask-console.ts'
import { browserApi } from '../api/browser-api.ts'
import { isMissing } from '../api/failures.ts'
import { recordingAddress } from './recordings.ts'

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

/** How what is of one kind is found: by how its ids begin, one by its id, and a few by what is in their names. */
interface Kind<Thing extends Named> {
  prefixes: readonly string[]
  get: (api: Api, call: Call) => Promise<Thing>
  search?: (api: Api, search: string, signal: AbortSignal, onMore: () => void) => Promise<readonly Named[]>
  href: (thing: Thing) => string
}

const kind = <Thing extends Named>(kind: Kind<Thing>) => kind as unknown as Kind<Named>

const ofEach = 5
const few = { limit: ofEach, include_total_count: false }
export const snapshotsLookedThrough = 200

const kinds = {
  devbox: kind({
    prefixes: ['dbx'],
    get: (api, call) => api.devboxes.get(call),
    search: async (api, search, signal) => (await api.devboxes.list({ query: { ...few, search }, signal })).devboxes,
    href: ({ id }) => paths.devbox(id),
  }),
  axon: kind({
    prefixes: ['axn'],
    get: (api, call) => api.axons.get(call),
    search: async (api, search, signal) => (await api.axons.list({ query: { ...few, search }, signal })).axons,
    href: ({ id }) => paths.axon(id),
  }),
  'benchmark job': kind({
    prefixes: ['bmj'],
    get: (api, call) => api.benchmarkJobs.get(call),
    search: async (api, name, signal) => (await api.benchmarkJobs.list({ query: { ...few, name }, signal })).jobs,
    href: ({ id }) => paths.benchmarkJob(id),
  }),
  'benchmark run': kind({
    prefixes: ['bmr'],
    get: (api, call) => api.benchmarkRuns.get(call),
    search: async (api, search, signal) => (await api.benchmarkRuns.list({ query: { ...few, search }, signal })).runs,
    href: ({ id }) => paths.benchmarkRun(id),
  }),
  benchmark: kind({
    // Unspecified: how the id of a benchmark begins; the local service says bmd, others bmk.
    prefixes: ['bmd', 'bmk'],
    get: (api, call) => api.benchmarks.get(call),
    search: async (api, search, signal) =>
      (await api.benchmarks.list({ query: { ...few, search }, signal })).benchmarks,
    href: ({ name }) => paths.benchmarks({ search: name.slice(0, 256) }),
  }),
  scenario: kind({
    prefixes: ['scn'],
    get: (api, call) => api.scenarios.get(call),
    search: async (api, search, signal) => (await api.scenarios.list({ query: { ...few, search }, signal })).scenarios,
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
    // The service searches no snapshots: the newest are looked through.
    search: async (api, search, signal, onMore) => {
      const newest = { limit: snapshotsLookedThrough, include_total_count: false }
      const { snapshots, has_more } = await api.snapshots.list({ query: newest, signal })
      if (has_more) onMore()
      const wanted = search.toLowerCase()
      return snapshots.filter(({ id, name }) => `${name ?? ''} ${id}`.toLowerCase().includes(wanted)).slice(0, ofEach)
    },
    href: ({ id }) => paths.snapshot(id),
  }),
}

export type FoundKind = keyof typeof kinds | 'recording'

const entries = Object.entries(kinds) as [keyof typeof kinds, Kind<Named>][]
const prefixes = entries.flatMap(([, kind]) => kind.prefixes)
const knownId = new RegExp(`(?<![A-Za-z0-9])(${prefixes.join('|')})_[A-Za-z0-9_-]{1,250}`)

/** The kind of what an id stands for, where the text is or holds one, as an address or a line of a log does. */
export const kindOfId = (text: string): FoundKind | undefined => {
  const prefix = knownId.exec(text)?.[1] ?? ''
  return entries.find(([, kind]) => kind.prefixes.includes(prefix))?.[0]
}

/** The id that a text is or holds. */
export const idIn = (text: string): string | undefined => knownId.exec(text)?.[0]

export interface Found {
  kind: FoundKind
  id: string
  /** The id where it has none. */
  name: string
  href: string
}

export interface FoundThings {
  things: Found[]
  /** Kinds that could not be asked for. */
  unasked: FoundKind[]
  /** There are older snapshots than those that were looked through. */
  snapshotsLeft: boolean
}

/** What has `text` in its name, a few of each kind, or the one thing whose id it is. */
export const foundQuery = (text: string, api: Api = pageApi, recordings = readRecordings) =>
  queryOptions({
    queryKey: ['found', text],
    queryFn: async ({ signal }): Promise<FoundThings> => {
      let snapshotsLeft = false
      const onSnapshotsLeft = () => {
        snapshotsLeft = true
      }
      const id = idIn(text)
      const finders = id === undefined ? findersOfName(text, api, recordings, onSnapshotsLeft) : [finderOfId(id, api)]
      const answers = await Promise.allSettled(finders.map(({ find }) => find(signal)))
      return {
        things: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
        unasked: finders.flatMap(({ kind }, i) => {
          const answer = answers[i]
          return answer?.status === 'rejected' && !isMissing(answer.reason) ? [kind] : []
        }),
        snapshotsLeft,
      }
    },
    staleTime: 10_000,
    refetchInterval: false,
  })

interface Finder {
  kind: FoundKind
  find: (signal: AbortSignal) => Promise<Found[]>
}

const found = (kind: keyof typeof kinds, thing: Named): Found => ({
  kind,
  id: thing.id,
  name: thing.name || thing.id,
  href: kinds[kind].href(thing),
})

const finderOfId = (id: string, api: Api): Finder => {
  const kind = kindOfId(id) as keyof typeof kinds
  return { kind, find: async (signal) => [found(kind, await kinds[kind].get(api, { params: { id }, signal }))] }
}

const findersOfName = (text: string, api: Api, recordings: RecordingReader, onSnapshotsLeft: () => void): Finder[] => [
  ...entries.flatMap(([kind, { search }]): Finder[] => {
    if (!search) return []
    const find = async (signal: AbortSignal) =>
      (await search(api, text.slice(0, 256), signal, onSnapshotsLeft)).map((thing) => found(kind, thing))
    return [{ kind, find }]
  }),
  recordingFinder(text, recordings),
]

type RecordingReader = (signal: AbortSignal) => Promise<readonly Recording[]>

/** The console keeps them, and tells all of them at once. */
const readRecordings: RecordingReader = async (signal) =>
  (await readConsole<RecordingList>(recordingAddress(), signal)).recordings

const recordingFinder = (text: string, read: RecordingReader): Finder => ({
  kind: 'recording',
  find: async (signal) => {
    const wanted = text.toLowerCase()
    const named = (await read(signal)).map((recording) => ({ id: recording.id, name: titleOf(recording) }))
    return named
      .filter(({ id, name }) => id === text || name.toLowerCase().includes(wanted))
      .slice(0, ofEach)
      .map(({ id, name }) => ({ kind: 'recording', id, name, href: paths.recording(id) }))
  },
})
