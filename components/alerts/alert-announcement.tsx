'use client'
import type { ReactNode } from 'react'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type AlertFeed, alarmOf, alertLeftMs, alertName } from '#lib/browser/alerts/alert-feed.ts'
import { alertSettings, playAlertSound } from '#lib/browser/alerts/alert-settings.ts'
import { notificationState, showNotification } from '#lib/browser/alerts/notifications.ts'
import { formatCountdown } from '#lib/browser/live/eviction-feed.ts'
import { type Alert, hasHappened, lastCallMs } from '#lib/protocol/alerts.ts'
import { alertCost, alertEvent, alertLine } from './alert-words.ts'
import { Countdown } from './countdown.tsx'

export { claimAlarms } from '#lib/browser/alerts/announced.ts'

/** Beyond this many at once, one toast and one notification speak for all. */
const maxAlone = 3
const toastMs = 30_000

/** Makes alarms heard in this tab: by toasts, and by what the settings of this browser allow. */
export const tell = (alerts: readonly Alert[], feed: AlertFeed, account: string, show: (alert: Alert) => void) => {
  const { notifications, sound } = alertSettings.read()
  if (sound) void playAlertSound().catch(() => undefined)
  const isNotified = notificationState(notifications).is === 'on'
  const [first] = alerts
  if (!first) return
  const leftMs = alertLeftMs(feed, first, Date.now())
  if (alerts.length > maxAlone) {
    const isEviction = alerts.every(({ kind }) => kind === 'eviction')
    const line = isEviction
      ? `${alerts.length} devboxes will be evicted, the first`
      : `${alerts.length} alerts${hasHappened(first) ? '' : ', the first'}`
    const description = isEviction ? 'They will be suspended: their disks stay, their processes end.' : undefined
    if (isNotified) {
      const title = hasHappened(first) ? line : `${line} in ${formatCountdown(leftMs)}`
      void notify({ alert: first, title, body: description, leftMs, account }, () => show(first))
    }
    toast.attention(
      <ToastTitle alert={first} leftMs={leftMs}>
        {line}
      </ToastTitle>,
      {
        id: alarmOf(first),
        description,
        action: { label: 'Show alerts', onClick: () => show(first) },
        durationMs: toastTime(first, leftMs),
      },
    )
    return
  }
  for (const alert of alerts) {
    const ownMs = alertLeftMs(feed, alert, Date.now())
    if (isNotified) {
      const title = alertLine(alert, ownMs, !hasHappened(alert))
      const body = alertCost(alert) ?? 'This is how an eviction is announced.'
      void notify({ alert, title, body, leftMs: ownMs, account }, () => show(alert))
    }
    toast[toneOf(alert)](
      alert.kind === 'test' ? (
        <span role="alert">Test alert: this is how an eviction is announced</span>
      ) : (
        <ToastTitle alert={alert} leftMs={ownMs}>
          <VisibleText max={60}>{alertName(alert)}</VisibleText> {alertEvent(alert)}
        </ToastTitle>
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
const ToastTitle = ({ alert, leftMs, children }: { alert: Alert; leftMs: number; children: ReactNode }) => (
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

interface Notice {
  /** The one it leads to. */
  alert: Alert
  title: string
  body: string | undefined
  leftMs: number
  account: string
}

const notify = async ({ alert, title, body = '', leftMs, account }: Notice, show: () => void) => {
  // `renotify` is not among the types of every browser.
  const options = {
    body,
    tag: alert.job?.id ?? alert.devbox_id,
    renotify: true,
    requireInteraction: !hasHappened(alert) && leftMs <= lastCallMs,
  }
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
