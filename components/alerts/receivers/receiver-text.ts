import type { Tone } from '#components/ui/badge.tsx'
import { formatCountOf, formatDurationMs } from '#lib/browser/format.ts'
import { alertKindLabels } from '#lib/protocol/alert-labels.ts'
import type { Delivery, Receiver, ReceiverFormat, Severity } from '#lib/protocol/alerts.ts'

export const formatLabels: Record<ReceiverFormat, string> = {
  json: 'JSON webhook',
  slack: 'Slack',
  pagerduty: 'PagerDuty',
  heartbeat: 'Heartbeat',
}

export const severityLabels: Record<Severity, string> = {
  info: 'All severities',
  warning: 'Warning and critical',
  critical: 'Critical only',
}

/** "Evictions only, critical only, team=core", or "every 60 s" for a heartbeat. */
export const filterText = ({ format, filter, every_seconds }: Receiver): string => {
  if (format === 'heartbeat') return `every ${formatDurationMs((every_seconds ?? 0) * 1000)}`
  const { kinds, min_severity, metadata } = filter
  const parts = [
    ...(kinds ? [kinds.map((kind) => alertKindLabels[kind].toLowerCase()).join(', ')] : []),
    ...(min_severity === 'info' ? [] : [severityLabels[min_severity].toLowerCase()]),
    ...Object.entries(metadata).map(([key, value]) => `${key}=${value}`),
  ]
  return parts.length > 0 ? parts.join('; ') : 'all alerts'
}

/** Heartbeats stop while the console can't see evictions. */
export const isHeldBack = ({ format, is_paused, failure, next_try_ms, deliveries: [latest] }: Receiver): boolean =>
  format === 'heartbeat' && !is_paused && !failure && next_try_ms === null && latest?.state !== 'waiting'

export const receiverState = (receiver: Receiver): [Tone, string] => {
  const { is_paused, failure, waiting, deliveries } = receiver
  if (is_paused) return ['neutral', 'Paused']
  if (failure) return ['danger', 'Failing']
  if (waiting > 0) return ['progress', `${waiting} waiting`]
  if (isHeldBack(receiver)) return ['attention', 'Stopped']
  if (deliveries.length === 0) return ['neutral', 'Nothing sent yet']
  return ['ok', 'Delivering']
}

export const deliveryStates: Record<Delivery['state'], [Tone, string]> = {
  waiting: ['progress', 'Waiting'],
  delivered: ['ok', 'Delivered'],
  failed: ['danger', 'Failed'],
}

/** "3 alerts raised", "Test message", "Heartbeat". */
export const deliveryText = ({ event, n_alerts }: Delivery): string => {
  if (event === 'heartbeat') return 'Heartbeat'
  if (event === 'alert.test') return 'Test message'
  return `${formatCountOf(n_alerts, 'alert')} ${event.replace('alert.', '')}`
}
