import { alertName } from '#lib/browser/alerts/alert-feed.ts'
import { formatCountdown } from '#lib/browser/live/eviction-feed.ts'
import { type Alert, nameInText } from '#lib/protocol/alerts.ts'

/** What is ahead of a devbox, or has become of it or of a job: continues its name. */
export const alertEvent = ({ kind, job }: Pick<Alert, 'kind' | 'job'>): string => {
  if (kind === 'eviction') return 'will be evicted'
  if (kind === 'end') return 'will be shut down and its disk deleted'
  if (kind === 'failure') return 'has failed'
  return job ? `has ended: ${job.state}` : 'ends'
}

/** What that costs. */
export const alertCost = ({ kind, end, job }: Pick<Alert, 'kind' | 'end' | 'job'>): string | undefined => {
  if (kind === 'eviction') return 'It will be suspended: its disk stays, its processes end.'
  if (kind === 'failure') return 'Its processes have ended. Its log tells why.'
  if (job) return 'Somebody follows this benchmark job.'
  if (kind !== 'end') return undefined
  const why = end?.cause === 'idle' ? 'It is idle, and its' : 'Its'
  const when = end?.is_at_least ? ' At the earliest: the service does not say when.' : ''
  return `${why} files are lost unless it is ${end?.cause === 'idle' ? 'used' : 'kept alive'} or a snapshot is taken.${when}`
}

/** One line, with the time that is left where there is any. */
export const alertLine = (alert: Alert, leftMs: number, isAhead: boolean): string =>
  alert.kind === 'test'
    ? 'Test alert'
    : `${nameInText(alertName(alert))} ${alertEvent(alert)}${isAhead ? ` in ${formatCountdown(leftMs)}` : ''}`
