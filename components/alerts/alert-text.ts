import { formatCountdown } from '#lib/browser/format.ts'
import { type Alert, type AlertKind, type AlertState, nameInText } from '#lib/protocol/alerts.ts'
import { alertName } from './alert-feed.ts'

export const alertKindLabels: Record<AlertKind, string> = {
  eviction: 'Eviction',
  end: 'Shutdown',
  failure: 'Failure',
  job: 'Job ended',
  test: 'Test',
}

export const alertStateLabels: Record<AlertState, string> = {
  new: 'New',
  acknowledged: 'Acknowledged',
  moved: 'Rescheduled',
  ended: 'Evicted',
  passed: 'Deadline passed',
  withdrawn: 'Withdrawn',
  cancelled: 'Canceled',
  stopped: 'Stopped early',
  seen: 'Seen',
}

/** Continues the alert's name: "api will be evicted". */
export const alertEvent = ({ kind, job }: Pick<Alert, 'kind' | 'job'>): string => {
  if (kind === 'eviction') return 'will be evicted'
  if (kind === 'end') return 'will be shut down and its disk deleted'
  if (kind === 'failure') return 'failed'
  return job ? `ended: ${job.state === 'cancelled' ? 'canceled' : job.state}` : 'ended'
}

export const alertConsequence = ({ kind, end, job }: Pick<Alert, 'kind' | 'end' | 'job'>): string | undefined => {
  if (kind === 'eviction') return 'It will be suspended: its processes end, its disk is kept.'
  if (kind === 'failure') return 'Its processes have ended. See its log for the reason.'
  if (job) return 'You follow this benchmark job.'
  if (kind !== 'end') return undefined
  const isIdle = end?.cause === 'idle'
  const earliest = end?.is_at_least ? ' This is the earliest time; the service does not report the exact one.' : ''
  return `${isIdle ? 'It is idle. ' : ''}Its files will be lost unless it is ${isIdle ? 'used' : 'kept alive'} or you take a snapshot.${earliest}`
}

/** One line: "api will be evicted in 04:12". */
export const alertLine = (alert: Alert, leftMs: number, isAhead: boolean): string =>
  alert.kind === 'test'
    ? 'Test alert'
    : `${nameInText(alertName(alert))} ${alertEvent(alert)}${isAhead ? ` in ${formatCountdown(leftMs)}` : ''}`
