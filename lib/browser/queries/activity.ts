import type { ActivityList } from '#lib/protocol/activity.ts'
import { consoleUrl, fetchConsoleJson } from '../api/console-api.ts'
import { listPages } from './list/pages.ts'

export interface ActivityQuery {
  outcome?: 'done' | 'refused' | undefined
  search?: string | undefined
  starting_after?: string | undefined
}

const restingMs = 15_000

/** Where the console answers; all that the filters leave as a file, when `format` is given. */
export const activityAddress = (query: ActivityQuery, format?: 'csv' | 'json') =>
  consoleUrl('/api/activity', { ...query, search: query.search || undefined, format })

export const activityQueries = {
  list: (query: ActivityQuery) =>
    listPages({
      queryKey: ['activity', query],
      query,
      read: (asked: ActivityQuery, signal) => fetchConsoleJson<ActivityList>(activityAddress(asked), signal),
      rowsOf: ({ activities }) => activities,
      // Each page that is loaded is read again: the newest page alone stays fresh by itself.
      refetchInterval: ({ state: { data } }) => data?.pages.length === 1 && restingMs,
    }),
}
