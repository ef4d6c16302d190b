import { queryOptions } from '@tanstack/react-query'
import { axons } from '#lib/contract/axons.ts'
import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { idPattern } from '#lib/contract/common.ts'
import { devboxes } from '#lib/contract/devboxes.ts'
import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { snapshots } from '#lib/contract/snapshots.ts'
import { paths } from '../address/paths.ts'
import { browserApi } from '../api/browser-api.ts'
import { isMissing } from '../api/failures.ts'

const pageApi = browserApi({ axons, benchmarkJobs, benchmarkRuns, devboxes, scenarioRuns, snapshots })
type Api = typeof pageApi

export type FoundKind = 'devbox' | 'axon' | 'benchmark job' | 'benchmark run' | 'scenario run' | 'snapshot'

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
}

const ofEach = 5

/** What has `text` in its name, a few of each kind, or the one thing whose id it is. */
export const foundQuery = (text: string, api: Api = pageApi) =>
  queryOptions({
    queryKey: ['found', text],
    queryFn: async ({ signal }): Promise<FoundThings> => {
      const finders = finderOfId(text, api) ?? findersOfName(text, api)
      const answers = await Promise.allSettled(finders.map(({ find }) => find(signal)))
      return {
        things: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
        unasked: finders.flatMap(({ kind }, i) => {
          const answer = answers[i]
          return answer?.status === 'rejected' && !isMissing(answer.reason) ? [kind] : []
        }),
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

/** What is asked for when the text is an id; undefined when it is none. */
const finderOfId = (id: string, api: Api): Finder[] | undefined => {
  const kind = idPattern.test(id) ? kindOf[id.split('_')[0] ?? ''] : undefined
  if (!kind) return undefined
  const find = async (signal: AbortSignal) => {
    const { name, href } = await readers[kind](id, api, signal)
    return [{ kind, id, name: name || id, href }]
  }
  return [{ kind, find }]
}

/** By the first part of an id of the local service. */
const kindOf: Record<string, FoundKind | undefined> = {
  dbx: 'devbox',
  axn: 'axon',
  bmj: 'benchmark job',
  bmr: 'benchmark run',
  scr: 'scenario run',
  snp: 'snapshot',
}

type Reader = (id: string, api: Api, signal: AbortSignal) => Promise<{ name?: string | null | undefined; href: string }>
const readers: Record<FoundKind, Reader> = {
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
  'scenario run': async (id, api, signal) => {
    const { name, benchmark_run_id, devbox_id } = await api.scenarioRuns.get({ params: { id }, signal })
    return { name, href: benchmark_run_id ? paths.benchmarkRun(benchmark_run_id) : paths.devbox(devbox_id) }
  },
  snapshot: async (id, api, signal) => {
    const { snapshot } = await api.snapshots.status({ params: { id }, signal })
    return {
      name: snapshot?.name,
      href: snapshot ? paths.devbox(snapshot.source_devbox_id, 'snapshots') : paths.snapshots(),
    }
  },
}

const findersOfName = (text: string, api: Api): Finder[] => {
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
  ]
}
