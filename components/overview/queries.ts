import { queryOptions } from '@tanstack/react-query'
import { axonQueries } from '#components/axons/queries.ts'
import { benchmarkJobQueries } from '#components/benchmarks/job/queries.ts'
import { devboxQueries, isMoving, listDevboxes } from '#components/devboxes/queries.ts'
import { devboxKeys } from '#components/devboxes/query-keys.ts'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { pollEvery, retryDelayMs } from '#lib/browser/api/failures.ts'
import { devboxMatches } from '#lib/browser/lists/devbox-matches.ts'
import type { Client } from '#lib/client/client.ts'
import type { Axon, AxonEvent } from '#lib/contract/axons.ts'
import { type Devbox, type DevboxListQuery, devboxes, isOfTrial } from '#lib/contract/devboxes.ts'

type Api = Pick<Client, 'devboxes'>
const pageApi = browserApi({ devboxes })

export interface DevboxTotals {
  /** Devboxes by state, without those of trials. */
  counts: { running: number; suspended: number; failed: number; shutDown: number; moving: number }
  trials: number
  /** Only the newest devboxes were counted. */
  isPartial: boolean
}

const ownDevboxes = { origin: 'own', limit: 200, include_total_count: false } as const
const movingMs = 5_000
const restingMs = 15_000

export const overviewQueries = {
  /** Counts the newest devboxes if the service can't count by state and origin. */
  totals: (api: Api = pageApi) =>
    queryOptions({
      queryKey: [...devboxKeys.lists, 'totals'],
      queryFn: async ({ signal }): Promise<DevboxTotals> =>
        (await fetchTotals(api, signal)) ?? (await countRows(api, signal)),
      refetchInterval: ({ state: { data, error } }) =>
        error ? retryDelayMs(error) : data && data.counts.moving > 0 ? movingMs : restingMs,
    }),
  devboxes: (api?: Client) => devboxQueries.list(ownDevboxes, api),
  /** Running devboxes can be older than the newest page. */
  running: (api?: Client) => devboxQueries.list({ ...ownDevboxes, status: 'running' }, api),
  failed: (api?: Client) => devboxQueries.list({ ...ownDevboxes, status: 'failure' }, api),
  jobs: (api?: Client) => benchmarkJobQueries.list({ limit: 20, include_total_count: false }, api),
  axons: (api?: Client) => axonQueries.list({ limit: 12, include_total_count: true }, api),
  /** The last event of each axon that has one, by axon id. */
  lastEvents: (axons: readonly Pick<Axon, 'id'>[], api?: Client) =>
    queryOptions({
      queryKey: ['axons', 'last-events', axons.map(({ id }) => id)],
      queryFn: async ({ signal }): Promise<Record<string, AxonEvent>> => {
        const events = await Promise.all(axons.map(({ id }) => axonQueries.lastEvent(id, signal, api)))
        return Object.fromEntries(events.flatMap((event) => (event ? [[event.axon_id, event]] : [])))
      },
      refetchInterval: pollEvery(30_000),
    }),
}

/** Null if the service ignores a filter or doesn't count. */
const fetchTotals = async (api: Api, signal: AbortSignal): Promise<DevboxTotals | null> => {
  const total = async (query: Partial<DevboxListQuery>): Promise<number> => {
    const { devboxes, total_count } = await listDevboxes(api, { ...query, limit: 1, include_total_count: true }, signal)
    // A service that ignores the filter returns a devbox that doesn't match.
    const isReal = devboxes.every(devboxMatches(query)) && (devboxes.length > 0 || total_count === 0)
    return isReal ? (total_count ?? Number.NaN) : Number.NaN
  }
  const origin = 'own'
  // Sequential, so that a hung service doesn't block all six connections of the browser.
  const own = await total({ origin })
  const trials = Number.isNaN(own) ? own : await total({ origin: 'trial' })
  if (Number.isNaN(trials)) return null
  const running = await total({ origin, status: 'running' })
  const suspended = await total({ origin, status: 'suspended' })
  const failed = await total({ origin, status: 'failure' })
  const shutDown = await total({ origin, status: 'shutdown' })
  const moving = own - running - suspended - failed - shutDown
  // Negative if a devbox changed state between two responses.
  return moving >= 0 ? { counts: { running, suspended, failed, shutDown, moving }, trials, isPartial: false } : null
}

const countRows = async (api: Api, signal: AbortSignal): Promise<DevboxTotals> => {
  const { devboxes: rows, has_more } = await listDevboxes(api, { limit: 200, include_total_count: false }, signal)
  const own = rows.filter((devbox) => !isOfTrial(devbox))
  const count = (is: (devbox: Devbox) => boolean) => own.filter(is).length
  return {
    counts: {
      running: count(({ status }) => status === 'running'),
      suspended: count(({ status }) => status === 'suspended'),
      failed: count(({ status }) => status === 'failure'),
      shutDown: count(({ status }) => status === 'shutdown'),
      moving: count(isMoving),
    },
    trials: rows.length - own.length,
    isPartial: has_more,
  }
}
