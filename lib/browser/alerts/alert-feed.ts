import { formatElapsedMs } from '#lib/browser/format.ts'
import {
  type Alert,
  type AlertItem,
  byUrgency,
  hasHappened,
  isOpen,
  isSilenced,
  lastCallMs,
  reminderMs,
  type Silence,
  type WebhookFailure,
} from '#lib/protocol/alerts.ts'
import { paths } from '../address/paths.ts'
import { remainingMs } from '../live/eviction-feed.ts'
import { type LiveHealth, noHealth } from '../live/follow.ts'

/** The browser's view of the alerts of an account: a pure state, and the items that change it. */
export interface AlertFeed {
  /** The earliest deadline first. */
  open: readonly Alert[]
  /** What was over since the page was opened, the latest first. */
  over: readonly Alert[]
  silences: readonly Silence[]
  /** Benchmark jobs whose end is told of, by their ids. */
  followedJobs: readonly string[]
  /** Null while it takes what it is told, or none is configured. */
  webhook: WebhookFailure | null
  health: LiveHealth
}

export const emptyAlertFeed: AlertFeed = {
  open: [],
  over: [],
  silences: [],
  followedJobs: [],
  webhook: null,
  health: noHealth,
}

const maxOver = 50

/** Sorts once for all items: thousands may come at once. */
export const nextAlertFeed = (feed: AlertFeed, items: readonly AlertItem[]): AlertFeed => {
  const next = { ...feed }
  let open = byId(feed.open)
  // The latest last.
  const over = byId(feed.over.toReversed())
  for (const { event, data } of items) {
    if (event === 'followed_jobs') next.followedJobs = data
    else if (event === 'webhook') next.webhook = data
    else if (event === 'silences') next.silences = data
    else if (event === 'alert') {
      over.delete(data.id)
      if (isOpen(data)) open.set(data.id, data)
      else {
        open.delete(data.id)
        over.set(data.id, data)
      }
    } else {
      open = byId(data.alerts)
      next.silences = data.silences
      next.followedJobs = data.followed_jobs
      next.webhook = data.webhook
    }
  }
  if (!items.some(({ event }) => event === 'alert' || event === 'snapshot')) return next
  return { ...next, open: [...open.values()].sort(byUrgency), over: [...over.values()].toReversed().slice(0, maxOver) }
}

const byId = (alerts: readonly Alert[]) => new Map(alerts.map((alert) => [alert.id, alert]))

/** The console's clock. */
export const consoleTime = ({ health }: Pick<AlertFeed, 'health'>, nowMs: number): number =>
  nowMs + health.clockOffsetMs

/** What is less is no reason to speak of it. */
const soundClockMs = 5_000

/** How far this browser's clock is off that of the service: `10 min ahead`; null while it is right. */
export const clockError = ({ health: { clockOffsetMs: ms } }: Pick<AlertFeed, 'health'>): string | null =>
  Math.abs(ms) > soundClockMs
    ? `${formatElapsedMs(Math.round(Math.abs(ms) / 1000) * 1000)} ${ms > 0 ? 'behind' : 'ahead'}`
    : null

/** What makes itself heard: open, and not silenced. */
export const loudAlerts = (feed: AlertFeed, nowMs: number): Alert[] =>
  feed.open.filter((alert) => !isSilenced(alert, feed.silences, consoleTime(feed, nowMs)))

/** Until the deadline, never below zero. */
export const alertLeftMs = (feed: AlertFeed, alert: Pick<Alert, 'deadline_ms'>, nowMs: number): number =>
  remainingMs(feed, { eviction_deadline_ms: alert.deadline_ms }, nowMs)

/** How long past its deadline it still comes first, as "now". */
const lingerMs = 3_000

/** Its deadline went by, and what became of its devbox is not known yet. */
export const isPast = (alert: Alert, feed: AlertFeed, nowMs: number): boolean =>
  !hasHappened(alert) && consoleTime(feed, nowMs) >= alert.deadline_ms + lingerMs

/**
 * The same, with those whose deadline has passed behind those that are ahead: what became of one is not always known at
 * once, and must not hide the next.
 */
export const nextFirst = (alerts: readonly Alert[], feed: AlertFeed, nowMs: number): Alert[] => [
  ...alerts.filter((alert) => !isPast(alert, feed, nowMs)),
  ...alerts.filter((alert) => isPast(alert, feed, nowMs)),
]

export type Urgency = 'danger' | 'attention' | 'neutral'

/** How urgent a deadline is, wherever its time is shown: by what it costs, and by the time that is left. */
export const urgencyOfTime = (leftMs: number, deletesDisk: boolean): Urgency => {
  if (leftMs <= lastCallMs || (deletesDisk && leftMs <= reminderMs)) return 'danger'
  return leftMs <= reminderMs ? 'attention' : 'neutral'
}

/** How urgent the most urgent of them is: what nobody has taken on, by what is lost and by the time that is left. */
export const urgencyOf = (alerts: readonly Alert[], feed: AlertFeed, nowMs: number): Urgency => {
  const unheard = alerts.filter(({ state }) => state === 'new')
  const isDanger = (alert: Alert) =>
    alert.kind === 'end' ||
    alert.kind === 'failure' ||
    (alert.kind === 'eviction' && urgencyOfTime(alertLeftMs(feed, alert, nowMs), false) === 'danger')
  if (unheard.some(isDanger)) return 'danger'
  return unheard.length > 0 ? 'attention' : 'neutral'
}

/** The name of what an alert is about, for people. */
export const alertName = ({
  kind,
  devbox_id,
  devbox_name,
  job,
}: Pick<Alert, 'kind' | 'devbox_id' | 'devbox_name' | 'job'>): string =>
  kind === 'test' ? 'Test alert' : (job?.name ?? (devbox_name || devbox_id))

/** Where one sees what became of it, or what can be done. */
export const alertHref = ({ id, kind, devbox_id, job }: Pick<Alert, 'id' | 'kind' | 'devbox_id' | 'job'>): string => {
  if (job) return paths.benchmarkJob(job.id)
  return kind === 'failure' ? paths.devbox(devbox_id) : paths.evictions({ alert: id })
}

const gatherMs = 2_000
const gatherRemindersMs = 15_000

/**
 * For how long after the announcement at `toldMs`, by this browser's clock, what comes is gathered for the next one. The
 * reminders of many alerts fall due one by one, and each is of something that was told before; what is new waits less.
 */
export const gatheringMs = (feed: AlertFeed, toldMs: number): number => {
  const isNew = ({ alarms, raised_ms }: Alert) => alarms <= 1 && raised_ms >= consoleTime(feed, toldMs)
  return loudAlerts(feed, toldMs).some((alert) => alert.state === 'new' && isNew(alert)) ? gatherMs : gatherRemindersMs
}

/** What is announced once: an alert that was taken on when it came has no alarm of its own. */
export const alarmOf = ({ id, alarms }: Pick<Alert, 'id' | 'alarms'>): string => `${id}#${alarms}`
