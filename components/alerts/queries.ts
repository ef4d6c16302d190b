import { keepPreviousData, mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { devboxKeys } from '#components/devboxes/query-keys.ts'
import { consoleUrl, fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import { followFeed } from '#lib/browser/live/follow.ts'
import { listPages, pushed } from '#lib/browser/queries/list/pages.ts'
import type { AlertOutcome, AlertSummary } from '#lib/protocol/alert-outcomes.ts'
import type { AlertRecap } from '#lib/protocol/alert-recap.ts'
import {
  type Acknowledged,
  type Alert,
  type AlertHealth,
  type AlertHistory,
  type AlertPeople,
  type ChangedAlerts,
  isOpen,
  type Silence,
} from '#lib/protocol/alerts.ts'
import type { ShiftReport } from '#lib/protocol/shift-report.ts'
import { type AlertFeed, emptyAlertFeed, nextAlertFeed } from './alert-feed.ts'
import type { PeriodParams } from './period-fields.tsx'

const alertKeys = {
  feed: ['alerts', 'feed'] as const,
  history: ['alerts', 'history'] as const,
  health: ['alerts', 'health'] as const,
}

export interface AlertHistoryQuery extends PeriodParams {
  state?: Alert['state'] | undefined
  kind?: Alert['kind'] | undefined
  outcome?: AlertOutcome | undefined
  search?: string | undefined
  starting_after?: string | undefined
}

const healthMs = 5_000
/** Reports read thousands of alerts, so a change doesn't refetch them at once. */
const reportsMs = 30_000

/** Address of the filtered history, or of its download when `format` is given. */
export const alertHistoryAddress = (query: AlertHistoryQuery, format?: 'csv' | 'json') =>
  consoleUrl('/api/alerts', { ...query, search: query.search || undefined, format })

export const shiftReportAddress = (period: PeriodParams, format?: 'markdown') =>
  consoleUrl('/api/alerts/report', { ...period, format })

export const alertQueries = {
  /** Pushed by `followAlerts`, never fetched. */
  feed: () => pushed<AlertFeed>(alertKeys.feed, emptyAlertFeed),
  history: (query: AlertHistoryQuery) =>
    listPages({
      queryKey: [...alertKeys.history, query],
      query,
      read: (page: AlertHistoryQuery, signal) => fetchConsoleJson<AlertHistory>(alertHistoryAddress(page), signal),
      rowsOf: ({ alerts }) => alerts,
    }),
  summary: (query: Pick<AlertHistoryQuery, keyof PeriodParams | 'search'>) =>
    queryOptions({
      queryKey: ['alerts', 'summary', query],
      queryFn: ({ signal }) =>
        fetchConsoleJson<AlertSummary>(
          consoleUrl('/api/alerts/summary', { ...query, search: query.search || undefined }),
          signal,
        ),
      placeholderData: keepPreviousData,
      refetchInterval: pollEvery(reportsMs),
    }),
  /** Covers the last 12 hours without `from_ms`. */
  recap: (from_ms: number | undefined) =>
    queryOptions({
      queryKey: ['alerts', 'recap', from_ms],
      queryFn: ({ signal }) => fetchConsoleJson<AlertRecap>(consoleUrl('/api/alerts/recap', { from_ms }), signal),
      refetchInterval: pollEvery(reportsMs),
    }),
  report: (period: PeriodParams) =>
    queryOptions({
      queryKey: ['alerts', 'report', period],
      queryFn: ({ signal }) => fetchConsoleJson<ShiftReport>(shiftReportAddress(period), signal),
      placeholderData: keepPreviousData,
      refetchInterval: pollEvery(reportsMs),
    }),
  get: (id: string) =>
    queryOptions({
      queryKey: [...alertKeys.history, 'one', id],
      queryFn: ({ signal }) => fetchConsoleJson<Alert>(`/api/alerts/alert/${encodeURIComponent(id)}`, signal),
    }),
  ofDevbox: (devboxId: string) =>
    queryOptions({
      queryKey: [...alertKeys.history, 'of', devboxId],
      queryFn: async ({ signal }): Promise<readonly Alert[]> => {
        const address = consoleUrl('/api/alerts', { devbox_id: devboxId, limit: 100 })
        return (await fetchConsoleJson<AlertHistory>(address, signal)).alerts
      },
      staleTime: 60_000,
    }),
  people: () =>
    queryOptions({
      queryKey: ['alerts', 'people'],
      queryFn: async ({ signal }) => (await fetchConsoleJson<AlertPeople>('/api/alerts/people', signal)).people,
    }),
  health: () =>
    queryOptions({
      queryKey: alertKeys.health,
      queryFn: ({ signal }) => fetchConsoleJson<AlertHealth>('/api/alerts/health', signal),
      refetchInterval: pollEvery(healthMs),
    }),
}

/** Keeps `alertQueries.feed` up to date until the returned function is called. */
export const followAlerts = (client: QueryClient): (() => void) =>
  followFeed(client, {
    queryKey: alertKeys.feed,
    empty: emptyAlertFeed,
    topic: { endpoint: 'alerts.watch' },
    next: nextAlertFeed,
    onItems: (items) => {
      // Alerts may have been raised and closed during the break that a snapshot ends.
      if (items.some(({ event }) => event === 'alert' || event === 'snapshot'))
        void client.invalidateQueries({ queryKey: alertKeys.history })
      // A closed eviction has happened or was withdrawn; either may have changed the devbox.
      if (items.some(({ event, data }) => event === 'alert' && data.kind === 'eviction' && !isOpen(data)))
        void client.invalidateQueries({ queryKey: devboxKeys.all })
    },
  })

const call = <Answer = unknown>(method: string, path: string, body?: unknown) =>
  sendToConsole<Answer>(method, `/api/alerts${path}`, body)

/** Changes reach every page over the live connection, so most mutations invalidate nothing. */
export const alertMutations = {
  acknowledge: () =>
    mutationOptions({
      mutationFn: (ids: readonly string[]) => call<Acknowledged>('POST', '/acknowledge', { ids }),
    }),
  unacknowledge: () =>
    mutationOptions({
      mutationFn: (ids: readonly string[]) => call<ChangedAlerts>('POST', '/unacknowledge', { ids }),
    }),
  handOver: () =>
    mutationOptions({
      mutationFn: (request: { ids: readonly string[]; to?: string }) =>
        call<ChangedAlerts>('POST', '/hand-over', request),
    }),
  comment: () =>
    mutationOptions({
      mutationFn: (request: { ids: readonly string[]; text: string }) =>
        call<ChangedAlerts>('POST', '/comment', request),
    }),
  silence: () =>
    mutationOptions({
      mutationFn: (silence: Pick<Silence, 'metadata' | 'until_ms' | 'comment'>) =>
        call<Silence>('POST', '/silences', silence),
    }),
  endSilence: () =>
    mutationOptions({ mutationFn: (id: string) => call('DELETE', `/silences/${encodeURIComponent(id)}`) }),
  followJob: () => mutationOptions({ mutationFn: (job_id: string) => call('POST', '/followed-jobs', { job_id }) }),
  unfollowJob: () =>
    mutationOptions({ mutationFn: (id: string) => call('DELETE', `/followed-jobs/${encodeURIComponent(id)}`) }),
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
