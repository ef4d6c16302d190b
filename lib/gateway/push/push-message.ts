import {
  type Alert,
  type AlertEventName,
  groupKeyOf,
  hasHappened,
  lastCallMs,
  nameInText,
} from '#lib/protocol/alerts.ts'
import type { PushMessage } from '#lib/protocol/push.ts'

interface PushContent {
  event: AlertEventName
  /** Alerts of one group, soonest deadline first. */
  alerts: readonly [Alert, ...Alert[]]
  account: string
  showsNames: boolean
  nowMs: number
}

const maxNamed = 3

/** Null for events without a notification. Without `showsNames`, it contains no names that people chose. */
export const pushMessageOf = ({ event, alerts, account, showsNames, nowMs }: PushContent): PushMessage | null => {
  if (event === 'alert.unacknowledged') return null
  const [first] = alerts
  const isOver = event === 'alert.closed' || event === 'alert.acknowledged'
  const subject = showsNames ? namesOf(alerts) : countOf(first, alerts.length)
  const left = hasHappened(first) || first.kind === 'test' ? '' : ` in ${timeLeft(first.deadline_ms - nowMs)}`
  const what = first.kind === 'test' ? 'Test alert' : `${subject} ${eventOf(first, alerts.length > 1)}`
  return {
    account,
    tag: groupKeyOf(first),
    title: isOver ? `${event === 'alert.closed' ? 'Closed' : 'Acknowledged'}: ${what}` : `${what}${left}`,
    body: first.kind === 'eviction' ? 'Processes end, disks are kept.' : 'Open the alert in Devdeck.',
    path: `/evictions?alert=${encodeURIComponent(first.id)}`,
    is_over: isOver,
    is_urgent: !isOver && first.kind === 'eviction' && first.deadline_ms - nowMs <= lastCallMs,
  }
}

const countOf = ({ kind }: Alert, count: number): string => {
  if (kind === 'watch') return 'Devdeck'
  const [one, many] = kind === 'job' ? ['followed job', 'followed jobs'] : ['devbox', 'devboxes']
  return `${count} ${count === 1 ? one : many}`
}

const namesOf = (alerts: readonly Alert[]): string => {
  const names = alerts.map(({ kind, devbox_name, devbox_id, job }) =>
    kind === 'watch' ? 'Devdeck' : nameInText(job?.name ?? (devbox_name || devbox_id)),
  )
  const more = names.length - maxNamed
  return more > 0 ? `${names.slice(0, maxNamed).join(', ')} and ${more} more` : names.join(', ')
}

const eventOf = ({ kind, job }: Alert, areSeveral: boolean): string => {
  if (kind === 'eviction') return 'will be suspended'
  if (kind === 'end') return `will be shut down and ${areSeveral ? 'their disks' : 'its disk'} deleted`
  if (kind === 'failure') return 'failed'
  if (kind === 'watch') return 'may miss evictions'
  return job?.state === 'failed' || job?.state === 'timeout' ? 'ended without success' : 'ended'
}

const timeLeft = (ms: number): string => {
  if (ms < 60_000) return 'less than a minute'
  const minutes = Math.floor(ms / 60_000)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
}
