import { consoleUrl, fetchConsoleJson } from '#lib/browser/api/console-api.ts'
import { listPages } from '#lib/browser/queries/list/pages.ts'
import type { ActivityList } from '#lib/protocol/activity.ts'

export interface ActivityQuery {
  outcome?: 'done' | 'refused' | undefined
  search?: string | undefined
  starting_after?: string | undefined
}

const refreshMs = 15_000

/** Address of the filtered activity, or of its download when `format` is given. */
export const activityAddress = (query: ActivityQuery, format?: 'csv' | 'json') =>
  consoleUrl('/api/activity', { ...query, search: query.search || undefined, format })

export const activityQueries = {
  list: (query: ActivityQuery) =>
    listPages({
      queryKey: ['activity', query],
      query,
      read: (page: ActivityQuery, signal) => fetchConsoleJson<ActivityList>(activityAddress(page), signal),
      rowsOf: ({ activities }) => activities,
      // A refetch loads every page again, so only the first page refreshes by itself.
      refetchInterval: ({ state: { data } }) => data?.pages.length === 1 && refreshMs,
    }),
}
