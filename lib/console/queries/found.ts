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

export type FoundKind =
  | 'devbox'
  | 'axon'
  | 'benchmark job'
  | 'benchmark run'
  | 'benchmark'
  | 'scenario'
  | 'scenario run'
  | 'snapshot'
  | 'recording'

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

const ofEach = 5
export const snapshotsLookedThrough = 200

/** What has `text` in its name, a few of each kind, or the one thing whose id it is. */
export const foundQuery = (text: string, api: Api = pageApi, recordings = readRecordings) =>
  queryOptions({
    queryKey: ['found', text],
    queryFn: async ({ signal }): Promise<FoundThings> => {
      let snapshotsLeft = false
      const onSnapshotsLeft = () => {
        snapshotsLeft = true
      }
      const finders = finderOfId(text, api) ?? [
        ...findersOfName(text, api, onSnapshotsLeft),
        recordingFinder(text, recordings),
      ]
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

const named = (
  kind: FoundKind,
  rows: readonly { id: string; name?: string | null | undefined }[],
  href: (id: string) => string,
): Found[] => rows.map(({ id, name }) => ({ kind, id, name: name || id, href: href(id) }))

/** The kind of what an id stands for, where the text is or holds one, as an address or a line of a log does. */
export const kindOfId = (text: string): FoundKind | undefined => kindOf[knownId.exec(text)?.[1] ?? '']

/** The id that a text is or holds. */
export const idIn = (text: string): string | undefined => knownId.exec(text)?.[0]

/** What is asked for when the text is or holds an id; undefined without. */
const finderOfId = (text: string, api: Api): Finder[] | undefined => {
  const [id = '', prefix = ''] = knownId.exec(text) ?? []
  const kind = kindOf[prefix]
  if (!kind) return undefined
  const find = async (signal: AbortSignal) => {
    const { name, href } = await readers[kind](id, api, signal)
    return [{ kind, id, name: name || id, href }]
  }
  return [{ kind, find }]
}

/** By the first part of an id. Unspecified: that of a benchmark; the local service says bmd, others bmk. */
const kindOf: Record<string, keyof typeof readers | undefined> = {
  dbx: 'devbox',
  axn: 'axon',
  bmj: 'benchmark job',
  bmr: 'benchmark run',
  bmd: 'benchmark',
  bmk: 'benchmark',
  scn: 'scenario',
  scr: 'scenario run',
  snp: 'snapshot',
}
const knownId = new RegExp(`(?<![A-Za-z0-9])(${Object.keys(kindOf).join('|')})_[A-Za-z0-9_-]{1,250}`)

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

type Reader = (id: string, api: Api, signal: AbortSignal) => Promise<{ name?: string | null | undefined; href: string }>
const readers: Record<Exclude<FoundKind, 'recording'>, Reader> = {
  devbox: async (id, api, signal) => ({
    name: (await api.devboxes.get({ params: { id }, signal })).name,
    href: paths.devbox(id),
  }),
  axon: async (id, api, signal) => ({
    name: (await api.axons.get({ params: { id }, signal })).name,
    href: paths.axon(id),
  }),
  'benchmark job': async (id, api, signal) => ({
    name: (await api.benchmarkJobs.get({ params: { id }, signal })).name,
    href: paths.benchmarkJob(id),
  }),
  'benchmark run': async (id, api, signal) => ({
    name: (await api.benchmarkRuns.get({ params: { id }, signal })).name,
    href: paths.benchmarkRun(id),
  }),
  benchmark: async (id, api, signal) => {
    const { name } = await api.benchmarks.get({ params: { id }, signal })
    return { name, href: paths.benchmarks({ search: name.slice(0, 256) }) }
  },
  scenario: async (id, api, signal) => ({
    name: (await api.scenarios.get({ params: { id }, signal })).name,
    href: paths.scenario(id),
  }),
  'scenario run': async (id, api, signal) => {
    const { name, benchmark_run_id, devbox_id } = await api.scenarioRuns.get({ params: { id }, signal })
    return { name, href: benchmark_run_id ? paths.benchmarkRun(benchmark_run_id) : paths.devbox(devbox_id) }
  },
  snapshot: async (id, api, signal) => {
    const { snapshot } = await api.snapshots.status({ params: { id }, signal })
    return { name: snapshot?.name, href: paths.snapshot(id) }
  },
}

const findersOfName = (text: string, api: Api, onSnapshotsLeft: () => void): Finder[] => {
  const query = { search: text.slice(0, 256), limit: ofEach, include_total_count: false }
  const byName = { name: query.search, limit: ofEach, include_total_count: false }
  return [
    {
      kind: 'devbox',
      find: async (signal) => named('devbox', (await api.devboxes.list({ query, signal })).devboxes, paths.devbox),
    },
    {
      kind: 'axon',
      find: async (signal) => named('axon', (await api.axons.list({ query, signal })).axons, paths.axon),
    },
    {
      kind: 'benchmark job',
      find: async (signal) =>
        named('benchmark job', (await api.benchmarkJobs.list({ query: byName, signal })).jobs, paths.benchmarkJob),
    },
    {
      kind: 'benchmark run',
      find: async (signal) =>
        named('benchmark run', (await api.benchmarkRuns.list({ query, signal })).runs, paths.benchmarkRun),
    },
    {
      kind: 'benchmark',
      find: async (signal) => {
        const { benchmarks } = await api.benchmarks.list({ query, signal })
        return benchmarks.map(({ id, name }) => ({
          kind: 'benchmark' as const,
          id,
          name,
          href: paths.benchmarks({ search: name.slice(0, 256) }),
        }))
      },
    },
    {
      kind: 'scenario',
      find: async (signal) =>
        named('scenario', (await api.scenarios.list({ query, signal })).scenarios, paths.scenario),
    },
    {
      kind: 'snapshot',
      // The service searches no snapshots: the newest are looked through.
      find: async (signal) => {
        const newest = { limit: snapshotsLookedThrough, include_total_count: false }
        const { snapshots, has_more } = await api.snapshots.list({ query: newest, signal })
        if (has_more) onSnapshotsLeft()
        const wanted = text.toLowerCase()
        const found = snapshots.filter(({ id, name }) => `${name ?? ''} ${id}`.toLowerCase().includes(wanted))
        return named('snapshot', found.slice(0, ofEach), paths.snapshot)
      },
    },
  ]
}
