import { mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Alert, AlertHealth, AlertHistory, Silence } from '#lib/protocol/alerts.ts'
import { type AlertFeed, emptyAlertFeed, nextAlertFeed } from '../alerts/alert-feed.ts'
import { consoleAddress, readConsole, sendToConsole } from '../api/ask-console.ts'
import { askingEvery } from '../api/failures.ts'
import { followFeed } from '../live/follow-query.ts'
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
export const alertHistoryAddress = (query: AlertHistoryQuery, format?: 'csv' | 'json') =>
  consoleAddress('/api/alerts', { ...query, search: query.search || undefined, format })

export const alertQueries = {
  /** Pushed by `followAlerts`, never fetched. */
  feed: () => pushed<AlertFeed>(alertKeys.feed, emptyAlertFeed),
  history: (query: AlertHistoryQuery) =>
    listPages({
      queryKey: [...alertKeys.history, query],
      query,
      read: (asked: AlertHistoryQuery, signal) => readConsole<AlertHistory>(alertHistoryAddress(asked), signal),
      rowsOf: ({ alerts }) => alerts,
    }),
  /** What this console has heard of one devbox, newest first. */
  ofDevbox: (devboxId: string) =>
    queryOptions({
      queryKey: [...alertKeys.history, 'of', devboxId],
      queryFn: async ({ signal }): Promise<readonly Alert[]> => {
        const address = consoleAddress('/api/alerts', { devbox_id: devboxId, limit: 100 })
        return (await readConsole<AlertHistory>(address, signal)).alerts
      },
      staleTime: 60_000,
    }),
  health: () =>
    queryOptions({
      queryKey: alertKeys.health,
      queryFn: ({ signal }) => readConsole<AlertHealth>('/api/alerts/health', signal),
      refetchInterval: askingEvery(healthMs),
    }),
}

/** Feeds the cache until the returned function is called. */
export const followAlerts = (client: QueryClient): (() => void) =>
  followFeed(client, {
    queryKey: alertKeys.feed,
    empty: emptyAlertFeed,
    topic: { endpoint: 'alerts.watch' },
    next: nextAlertFeed,
    onItems: (items) => {
      // A snapshot may follow a break in which alerts were raised and closed.
      if (items.some(({ event }) => event === 'alert' || event === 'snapshot'))
        void client.invalidateQueries({ queryKey: alertKeys.history })
    },
  })

const call = <Answer = unknown>(method: string, path: string, body?: unknown) =>
  sendToConsole<Answer>(method, `/api/alerts${path}`, body)

/** Their changes reach every page, this one included, over the live connection. */
export const alertMutations = {
  acknowledge: () =>
    mutationOptions({
      mutationFn: (ids: readonly string[]) => call<{ acknowledged: Alert[] }>('POST', '/acknowledge', { ids }),
    }),
  silence: () =>
    mutationOptions({
      mutationFn: (wanted: Pick<Silence, 'metadata' | 'until_ms' | 'comment'>) =>
        call<Silence>('POST', '/silences', wanted),
    }),
  followJob: () => mutationOptions({ mutationFn: (job_id: string) => call('POST', '/followed-jobs', { job_id }) }),
  unfollowJob: () =>
    mutationOptions({ mutationFn: (id: string) => call('DELETE', `/followed-jobs/${encodeURIComponent(id)}`) }),
  endSilence: () =>
    mutationOptions({ mutationFn: (id: string) => call('DELETE', `/silences/${encodeURIComponent(id)}`) }),
  test: () =>
    mutationOptions({
      mutationFn: () => call<Alert>('POST', '/test'),
      onSettled: (_answer, _error, _input, _result, { client }) =>
        void client.invalidateQueries({ queryKey: alertKeys.health }),
    }),
  startDrill: () =>
    mutationOptions({
      mutationFn: (drill: { devbox_id: string; in_seconds: number }) => call('POST', '/drills', drill),
    }),
  endDrill: () => mutationOptions({ mutationFn: (id: string) => call('DELETE', `/drills/${encodeURIComponent(id)}`) }),
}
