import { isAway } from '#components/ui/live-badge.tsx'
import { formatElapsedMs } from '#lib/browser/format.ts'
import { initialHealth, type LiveHealth } from '#lib/browser/live/follow.ts'
import {
  type Alert,
  type AlertItem,
  byUrgency,
  type FailingReceiver,
  hasHappened,
  isOpen,
  isSilenced,
  lastCallMs,
  reminderMs,
  type Silence,
  severityOf,
} from '#lib/protocol/alerts.ts'

export interface AlertFeed {
  /** Earliest deadline first. */
  open: readonly Alert[]
  /** Alerts closed since the page was opened, latest first. */
  closed: readonly Alert[]
  silences: readonly Silence[]
  followedJobs: readonly string[]
  failingReceivers: readonly FailingReceiver[]
  health: LiveHealth
}

export const emptyAlertFeed: AlertFeed = {
  open: [],
  closed: [],
  silences: [],
  followedJobs: [],
  failingReceivers: [],
  health: initialHealth,
}

const maxClosed = 50

/** Applies all items, then sorts once: thousands can arrive together. */
export const nextAlertFeed = (feed: AlertFeed, items: readonly AlertItem[]): AlertFeed => {
  const next = { ...feed }
  let open = byId(feed.open)
  const closed = byId(feed.closed.toReversed())
  for (const { event, data } of items) {
    if (event === 'followed_jobs') next.followedJobs = data
    else if (event === 'receivers') next.failingReceivers = data.failing
    else if (event === 'silences') next.silences = data
    else if (event === 'alert') {
      const isKnown = [closed.delete(data.id), open.delete(data.id)].includes(true)
      if (isOpen(data)) open.set(data.id, data)
      // An alert that was closed before may be commented on.
      else if (isKnown) closed.set(data.id, data)
    } else {
      open = byId(data.alerts)
      next.silences = data.silences
      next.followedJobs = data.followed_jobs
      next.failingReceivers = data.receivers.failing
    }
  }
  if (!items.some(({ event }) => event === 'alert' || event === 'snapshot')) return next
  return {
    ...next,
    open: [...open.values()].sort(byUrgency),
    closed: [...closed.values()].toReversed().slice(0, maxClosed),
  }
}

const byId = (alerts: readonly Alert[]) => new Map(alerts.map((alert) => [alert.id, alert]))

/** Time until a deadline, never below zero. */
export const timeLeftMs = (deadlineMs: number, nowMs: number): number => Math.max(0, deadlineMs - nowMs)

const maxClockErrorMs = 5_000

/** How far this computer's clock is off: `10 min ahead`. Null within 5 seconds. */
export const clockError = (offsetMs: number): string | null =>
  Math.abs(offsetMs) > maxClockErrorMs
    ? `${formatElapsedMs(Math.round(Math.abs(offsetMs) / 1000) * 1000)} ${offsetMs > 0 ? 'behind' : 'ahead'}`
    : null

export const audibleAlerts = (feed: AlertFeed, nowMs: number): Alert[] =>
  feed.open.filter((alert) => !isSilenced(alert, feed.silences, nowMs))

/** Start of an outage that may hide changes of the pending alerts; null while there is none. */
export const lastConfirmedMs = ({ open, health }: Pick<AlertFeed, 'open' | 'health'>): number | null => {
  const sinceMs = open.find(({ kind }) => kind === 'watch')?.deadline_ms ?? Number.POSITIVE_INFINITY
  const confirmedMs = isAway(health) ? Math.min(health.sinceMs, sinceMs) : sinceMs
  return Number.isFinite(confirmedMs) ? confirmedMs : null
}

export const pendingEvictions = ({ open }: Pick<AlertFeed, 'open'>): Alert[] =>
  open.filter(({ kind }) => kind === 'eviction')

export const evictionOf = (feed: AlertFeed, devboxId: string): Alert | undefined =>
  pendingEvictions(feed).find(({ devbox_id }) => devbox_id === devboxId)

/** How long an alert still counts as "now" after its deadline. */
const overdueMs = 3_000

export const isOverdue = (alert: Alert, nowMs: number): boolean =>
  !hasHappened(alert) && nowMs >= alert.deadline_ms + overdueMs

/**
 * Order in which the bar, the title and the badge name alerts. Their color is that of the first. Overdue ones come last,
 * so that one without a known outcome doesn't hide the next.
 */
export const worstFirst = (alerts: readonly Alert[], nowMs: number): Alert[] => {
  const ranked: Alert[][] = [[], [], [], [], []]
  for (const alert of alerts) ranked[nameRank(alert, nowMs)]?.push(alert)
  return ranked.flat()
}

const nameRank = (alert: Alert, nowMs: number): number => {
  if (isOverdue(alert, nowMs)) return 4
  const urgency = urgencyOf([alert], nowMs)
  if (urgency === 'danger') return 0
  if (severityOf(alert) === 'info') return 3
  return urgency === 'attention' ? 1 : 2
}

export type Urgency = 'danger' | 'attention' | 'neutral'

export const urgencyOfTime = (leftMs: number, deletesDisk: boolean): Urgency => {
  if (leftMs <= lastCallMs || (deletesDisk && leftMs <= reminderMs)) return 'danger'
  return leftMs <= reminderMs ? 'attention' : 'neutral'
}

export const urgencyOf = (alerts: readonly Alert[], nowMs: number): Urgency => {
  const unacknowledged = alerts.filter(({ state }) => state === 'new')
  const isDanger = ({ kind, deadline_ms }: Alert) =>
    kind === 'end' ||
    kind === 'failure' ||
    kind === 'watch' ||
    (kind === 'eviction' && urgencyOfTime(timeLeftMs(deadline_ms, nowMs), false) === 'danger')
  if (unacknowledged.some(isDanger)) return 'danger'
  return unacknowledged.length > 0 ? 'attention' : 'neutral'
}

export const alertName = ({
  kind,
  devbox_id,
  devbox_name,
  job,
}: Pick<Alert, 'kind' | 'devbox_id' | 'devbox_name' | 'job'>): string =>
  specialNames[kind] ?? job?.name ?? (devbox_name || devbox_id)

export const isAboutDevbox = ({ kind }: Alert) => kind !== 'test' && kind !== 'job' && kind !== 'watch'

const specialNames: Partial<Record<Alert['kind'], string>> = { test: 'Test alert', watch: 'Devdeck' }

/** Identifies one alarm of an alert. Each is announced once. */
export const alarmOf = ({ id, alarms }: Pick<Alert, 'id' | 'alarms'>): string => `${id}#${alarms}`
