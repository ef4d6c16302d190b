import { type Alert, type AlertItem, isOpen, isSilenced, lastCallMs, type Silence } from '#lib/wire/alerts.ts'
import { remainingMs } from '../live/eviction-feed.ts'
import { type LiveHealth, noHealth } from '../live/follow.ts'

/** The browser's view of the alerts of an account: a pure state, and the items that change it. */
export interface AlertFeed {
  /** The earliest deadline first. */
  open: readonly Alert[]
  /** What was over since the page was opened, the latest first. */
  over: readonly Alert[]
  silences: readonly Silence[]
  health: LiveHealth
}

export const emptyAlertFeed: AlertFeed = { open: [], over: [], silences: [], health: noHealth }

const maxOver = 50

export const nextAlertFeed = (feed: AlertFeed, item: AlertItem): AlertFeed => {
  switch (item.event) {
    case 'snapshot':
      return { ...feed, open: byDeadline(item.data.alerts), silences: item.data.silences }
    case 'silences':
      return { ...feed, silences: item.data }
    case 'alert': {
      const others = ({ id }: Alert) => id !== item.data.id
      if (isOpen(item.data)) return { ...feed, open: byDeadline([...feed.open.filter(others), item.data]) }
      return {
        ...feed,
        open: feed.open.filter(others),
        over: [item.data, ...feed.over.filter(others)].slice(0, maxOver),
      }
    }
  }
}

const byDeadline = (alerts: readonly Alert[]): Alert[] =>
  alerts.toSorted((a, b) => a.deadline_ms - b.deadline_ms || (a.id < b.id ? -1 : 1))

/** The console's clock. */
export const consoleTime = ({ health }: Pick<AlertFeed, 'health'>, nowMs: number): number =>
  nowMs + health.clockOffsetMs

/** What makes itself heard: open, and not silenced. */
export const loudAlerts = (feed: AlertFeed, nowMs: number): Alert[] =>
  feed.open.filter((alert) => !isSilenced(alert, feed.silences, consoleTime(feed, nowMs)))

/** Until the deadline, never below zero. */
export const alertLeftMs = (feed: AlertFeed, alert: Pick<Alert, 'deadline_ms'>, nowMs: number): number =>
  remainingMs(feed, { eviction_deadline_ms: alert.deadline_ms }, nowMs)

/** How urgent the most urgent of them is: what nobody has taken on, and what is about to happen. */
export const urgencyOf = (
  alerts: readonly Alert[],
  feed: AlertFeed,
  nowMs: number,
): 'danger' | 'attention' | 'neutral' => {
  const unheard = alerts.filter(({ state }) => state === 'new')
  if (unheard.some((alert) => alertLeftMs(feed, alert, nowMs) <= lastCallMs)) return 'danger'
  return unheard.length > 0 ? 'attention' : 'neutral'
}

/** The name of what an alert is about, for people. */
export const alertName = ({
  kind,
  devbox_id,
  devbox_name,
}: Pick<Alert, 'kind' | 'devbox_id' | 'devbox_name'>): string =>
  kind === 'test' ? 'Test alert' : devbox_name || devbox_id

/** What is announced once: an alert that was taken on when it came has no alarm of its own. */
export const alarmOf = ({ id, alarms }: Pick<Alert, 'id' | 'alarms'>): string => `${id}#${alarms}`
