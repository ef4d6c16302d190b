import { mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Alert, AlertHealth, AlertHistory, Silence } from '#lib/wire/alerts.ts'
import { type AlertFeed, emptyAlertFeed, nextAlertFeed } from '../alerts/alert-feed.ts'
import { askConsoleSignedIn } from '../api/ask-console.ts'
import { asksAgainInMs } from '../api/failures.ts'
import { follow } from '../live/follow.ts'
import { listPages, pushed } from './list/pages.ts'

const alertKeys = {
  feed: ['alerts', 'feed'] as const,
  history: ['alerts', 'history'] as const,
  health: ['alerts', 'health'] as const,
}

export interface AlertHistoryQuery {
  state?: Alert['state'] | undefined
  search?: string | undefined
  starting_after?: string | undefined
}

const healthMs = 5_000

/** Where the console answers; the whole of the filtered history as a file, when `format` is given. */
export const alertHistoryAddress = ({ state, search, starting_after }: AlertHistoryQuery, format?: 'csv' | 'json') => {
  const query = { state, search, starting_after, format }
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return `/api/alerts${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`
}

export const alertQueries = {
  /** Pushed by `followAlerts`, never fetched. */
  feed: () => pushed<AlertFeed>(alertKeys.feed, emptyAlertFeed),
  history: (query: AlertHistoryQuery) =>
    listPages({
      queryKey: [...alertKeys.history, query],
      query,
      read: async (asked: AlertHistoryQuery, signal): Promise<AlertHistory> =>
        (await askConsoleSignedIn(alertHistoryAddress(asked), { signal })).json(),
      rowsOf: ({ alerts }) => alerts,
    }),
  /** What this console has heard of one devbox, newest first. */
  ofDevbox: (devboxId: string) =>
    queryOptions({
      queryKey: [...alertKeys.history, 'of', devboxId],
      queryFn: async ({ signal }): Promise<readonly Alert[]> => {
        const query = new URLSearchParams({ devbox_id: devboxId, limit: '100' })
        const answer = await askConsoleSignedIn(`/api/alerts?${query}`, { signal })
        return ((await answer.json()) as AlertHistory).alerts
      },
      staleTime: 60_000,
    }),
  health: () =>
    queryOptions({
      queryKey: alertKeys.health,
      queryFn: async ({ signal }): Promise<AlertHealth> =>
        (await askConsoleSignedIn('/api/alerts/health', { signal })).json(),
      refetchInterval: ({ state: { error } }) => asksAgainInMs(error) || healthMs,
    }),
}

/** Feeds the cache until the returned function is called. */
export const followAlerts = (client: QueryClient): (() => void) => {
  const change = (next: (feed: AlertFeed) => AlertFeed) =>
    client.setQueryData<AlertFeed>(alertKeys.feed, (feed = emptyAlertFeed) => next(feed))
  const leaving = new AbortController()
  follow(
    { endpoint: 'alerts.watch' },
    {
      signal: leaving.signal,
      onItems(items) {
        change((feed) => items.reduce(nextAlertFeed, feed))
        if (items.some(({ event }) => event === 'alert')) void client.invalidateQueries({ queryKey: alertKeys.history })
      },
      onHealth: (health) => change((feed) => ({ ...feed, health })),
    },
  ).catch((error) => change((feed) => ({ ...feed, health: { ...feed.health, state: 'lost', error } })))
  return () => leaving.abort()
}

const call = async (method: string, path: string, body?: unknown) => {
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) }
  return (await askConsoleSignedIn(`/api/alerts${path}`, init)).json()
}

/** What they change comes back over the live connection, to this page as to all others. */
export const alertMutations = {
  acknowledge: () =>
    mutationOptions({
      mutationFn: (ids: readonly string[]): Promise<{ acknowledged: Alert[] }> => call('POST', '/acknowledge', { ids }),
    }),
  silence: () =>
    mutationOptions({
      mutationFn: (wanted: Pick<Silence, 'metadata' | 'until_ms' | 'comment'>): Promise<Silence> =>
        call('POST', '/silences', wanted),
    }),
  followJob: () => mutationOptions({ mutationFn: (job_id: string) => call('POST', '/followed-jobs', { job_id }) }),
  unfollowJob: () =>
    mutationOptions({ mutationFn: (id: string) => call('DELETE', `/followed-jobs/${encodeURIComponent(id)}`) }),
  endSilence: () =>
    mutationOptions({ mutationFn: (id: string) => call('DELETE', `/silences/${encodeURIComponent(id)}`) }),
  test: () =>
    mutationOptions({
      mutationFn: (): Promise<Alert> => call('POST', '/test'),
      onSettled: (_answer, _error, _input, _result, { client }) =>
        void client.invalidateQueries({ queryKey: alertKeys.health }),
    }),
  startDrill: () =>
    mutationOptions({
      mutationFn: (drill: { devbox_id: string; in_seconds: number }) => call('POST', '/drills', drill),
    }),
  endDrill: () => mutationOptions({ mutationFn: (id: string) => call('DELETE', `/drills/${encodeURIComponent(id)}`) }),
}
