import { queryOptions } from '@tanstack/react-query'
import { listDevboxes } from '#components/devboxes/queries.ts'
import { devboxKeys } from '#components/devboxes/query-keys.ts'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { retryDelayMs } from '#lib/browser/api/failures.ts'
import { devboxMatches } from '#lib/browser/lists/devbox-matches.ts'
import type { Client } from '#lib/client/client.ts'
import { type Devbox, type DevboxListQuery, devboxes, isOfTrial } from '#lib/contract/devboxes.ts'
import { countDevboxes, type DevboxCounts } from './devbox-counts.ts'

type Api = Pick<Client, 'devboxes'>
const pageApi = browserApi({ devboxes })

export interface DevboxTotals {
  /** Devboxes by state, without those of trials. */
  counts: DevboxCounts
  trials: number
  /** Set if only this many of the newest devboxes were counted, so that each number is a lower bound. */
  countedNewest: number | null
}

const movingMs = 5_000
const restingMs = 15_000
/** Counting page by page takes several large responses. */
const pagingMs = 60_000
const rowsPerPage = 500
/** Limit when the service doesn't count by state and origin. */
const maxCounted = 2_000

/**
 * Devbox counts of the account. If the service doesn't count, they are counted page by page; `canPage: false` skips this
 * slow path during server rendering.
 */
export const devboxTotals = (api: Api = pageApi, canPage = true) =>
  queryOptions({
    queryKey: [...devboxKeys.lists, 'totals'],
    queryFn: async ({ signal }): Promise<DevboxTotals & { isPaged: boolean }> => {
      const counted = await fetchTotals(api, signal)
      if (counted) return { ...counted, isPaged: false }
      if (!canPage) throw new Error('The service does not count devboxes by state and origin')
      return { ...(await pageTotals(api, signal)), isPaged: true }
    },
    refetchInterval: ({ state: { data, error } }) => {
      if (error) return retryDelayMs(error)
      if (data?.isPaged) return pagingMs
      return data && data.counts.moving > 0 ? movingMs : restingMs
    },
  })

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
  const trials = await total({ origin: 'trial' })
  const running = await total({ origin, status: 'running' })
  const suspended = await total({ origin, status: 'suspended' })
  const failed = await total({ origin, status: 'failure' })
  const shutDown = await total({ origin, status: 'shutdown' })
  const moving = own - running - suspended - failed - shutDown
  // Negative if a devbox changed state between two responses.
  if (!(moving >= 0) || Number.isNaN(trials)) return null
  return { counts: { running, suspended, failed, shutDown, moving }, trials, countedNewest: null }
}

const pageTotals = async (api: Api, signal: AbortSignal): Promise<DevboxTotals> => {
  const [all, running] = await Promise.all([
    newestDevboxes(api, {}, signal),
    // Running devboxes can be older than the newest page.
    newestDevboxes(api, { status: 'running' }, signal),
  ])
  const rows = [...new Map([...running.rows, ...all.rows].map((devbox) => [devbox.id, devbox])).values()]
  const own = rows.filter((devbox) => !isOfTrial(devbox))
  return {
    counts: countDevboxes(own),
    trials: rows.length - own.length,
    countedNewest: all.has_more ? all.rows.length : null,
  }
}

const newestDevboxes = async (api: Api, query: Partial<DevboxListQuery>, signal: AbortSignal) => {
  const rows: Devbox[] = []
  let has_more = true
  while (has_more && rows.length < maxCounted) {
    const page: Partial<DevboxListQuery> = {
      ...query,
      limit: rowsPerPage,
      starting_after: rows.at(-1)?.id,
      include_total_count: false,
    }
    const answer = await listDevboxes(api, page, signal)
    rows.push(...answer.devboxes)
    has_more = answer.has_more && answer.devboxes.length > 0
  }
  return { rows, has_more }
}
