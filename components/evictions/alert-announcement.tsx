'use client'
import type { ReactNode } from 'react'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { type AlertFeed, alarmOf, alertLeftMs, alertName } from '#lib/console/alerts/alert-feed.ts'
import { alertSettings, playAlertSound } from '#lib/console/alerts/alert-settings.ts'
import { notificationState, showNotification } from '#lib/console/alerts/notifications.ts'
import { formatCountdown } from '#lib/console/live/eviction-feed.ts'
import { type Alert, hasHappened, lastCallMs } from '#lib/wire/alerts.ts'
import { alertCost, alertLine, alertNews } from './alert-words.ts'
import { Countdown } from './countdown.tsx'

export { claimAlarms } from '#lib/console/alerts/announced.ts'

/** Beyond this many at once, one toast speaks for all. */
const maxToasts = 3
const toastMs = 30_000

/** Makes alarms heard in this tab: by toasts, and by what the settings of this browser allow. */
export const tell = (alerts: readonly Alert[], feed: AlertFeed, account: string, show: (alert: Alert) => void) => {
  const { notifications, sound } = alertSettings.read()
  if (sound) void playAlertSound().catch(() => undefined)
  if (notificationState(notifications).is === 'on')
    for (const alert of alerts) void notify(alert, alertLeftMs(feed, alert, Date.now()), account, () => show(alert))
  const [first] = alerts
  if (!first) return
  const leftMs = alertLeftMs(feed, first, Date.now())
  if (alerts.length > maxToasts) {
    toast.attention(
      <News alert={first} leftMs={leftMs}>
        {alerts.every(({ kind }) => kind === 'eviction')
          ? `${alerts.length} devboxes will be evicted, the first`
          : `${alerts.length} alerts${hasHappened(first) ? '' : ', the first'}`}
      </News>,
      {
        id: alarmOf(first),
        description: alerts.every(({ kind }) => kind === 'eviction')
          ? 'They will be suspended: their disks stay, their processes end.'
          : undefined,
        action: { label: 'Show alerts', onClick: () => show(first) },
        durationMs: toastTime(first, leftMs),
      },
    )
    return
  }
  for (const alert of alerts) {
    const ownMs = alertLeftMs(feed, alert, Date.now())
    toast[toneOf(alert)](
      alert.kind === 'test' ? (
        <span role="alert">Test alert: this is how an eviction is announced</span>
      ) : (
        <News alert={alert} leftMs={ownMs}>
          <VisibleText max={60}>{alertName(alert)}</VisibleText> {alertNews(alert)}
        </News>
      ),
      {
        id: alarmOf(alert),
        description: alertCost(alert),
        action: { label: 'Show alert', onClick: () => show(alert) },
        durationMs: toastTime(alert, ownMs),
      },
    )
  }
}

const toastTime = (alert: Alert, leftMs: number) => (hasHappened(alert) ? toastMs : Math.min(toastMs, leftMs))

/** A lost disk or devbox is more than lost processes. */
const toneOf = ({ kind, job }: Alert) => {
  if (kind === 'end' || kind === 'failure') return 'danger'
  return job?.state === 'completed' ? 'ok' : 'attention'
}

/** The alert is read out once, with the time as it was then; what ticks stands beside it. */
const News = ({ alert, leftMs, children }: { alert: Alert; leftMs: number; children: ReactNode }) => (
  <>
    <span role="alert">
      {children} {!hasHappened(alert) && <span className="sr-only">in {formatCountdown(leftMs)}</span>}
    </span>
    {!hasHappened(alert) && (
      <>
        in <Countdown deadlineMs={alert.deadline_ms} />
      </>
    )}
  </>
)

const notify = async (alert: Alert, leftMs: number, account: string, show: () => void) => {
  // `renotify` is not among the types of every browser.
  const options = {
    body: alertCost(alert) ?? 'This is how an eviction is announced.',
    tag: alert.job?.id ?? alert.devbox_id,
    renotify: true,
    requireInteraction: !hasHappened(alert) && leftMs <= lastCallMs,
  }
  const title = alertLine(alert, leftMs, !hasHappened(alert))
  const path = paths.evictions({ alert: alert.id })
  try {
    await showNotification({ title, options, alarm: alarmOf(alert), path, account }, show)
  } catch (error) {
    toast.attention('The browser showed no notification', {
      id: 'notification-refused',
      description: problemOf(error).message,
    })
  }
}
