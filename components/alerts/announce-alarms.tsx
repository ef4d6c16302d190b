'use client'
import type { ReactNode } from 'react'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountdown } from '#lib/browser/format.ts'
import { type Alert, hasHappened, lastCallMs } from '#lib/protocol/alerts.ts'
import { type AlertFeed, alarmOf, alertName, timeLeftMs } from './alert-feed.ts'
import { alertSettings, playAlertSound } from './alert-settings.ts'
import { alertConsequence, alertEvent, alertLine } from './alert-text.ts'
import { Countdown } from './countdown.tsx'
import { notificationState, showNotification } from './notifications.ts'

/** More alarms than this share one toast and one notification. */
const maxSeparate = 3
const toastMs = 30_000

/** Announces alarms in this tab: toasts, and sound and notifications if they are turned on. */
export const announceAlarms = (
  alerts: readonly Alert[],
  feed: AlertFeed,
  account: string,
  show: (alert: Alert) => void,
) => {
  const { notifications, sound } = alertSettings.read()
  if (sound) void playAlertSound().catch(() => undefined)
  const isNotified = notificationState(notifications).is === 'on'
  const [first] = alerts
  if (!first) return
  if (alerts.length > maxSeparate) {
    const leftMs = timeLeftMs(feed, first.deadline_ms, Date.now())
    const isEviction = alerts.every(({ kind }) => kind === 'eviction')
    const line = isEviction
      ? `${alerts.length} devboxes will be evicted, the first`
      : `${alerts.length} alerts${hasHappened(first) ? '' : ', the first'}`
    const description = isEviction ? 'They will be suspended: processes end, disks are kept.' : undefined
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
    const leftMs = timeLeftMs(feed, alert.deadline_ms, Date.now())
    if (isNotified) {
      const title = alertLine(alert, leftMs, !hasHappened(alert))
      const body = alertConsequence(alert) ?? 'Evictions are announced like this.'
      void notify({ alert, title, body, leftMs, account }, () => show(alert))
    }
    toast[toneOf(alert)](
      alert.kind === 'test' ? (
        <span role="alert">Test alert: evictions are announced like this</span>
      ) : (
        <ToastTitle alert={alert} leftMs={leftMs}>
          <VisibleText max={60}>{alertName(alert)}</VisibleText> {alertEvent(alert)}
        </ToastTitle>
      ),
      {
        id: alarmOf(alert),
        description: alertConsequence(alert),
        action: { label: 'Show alert', onClick: () => show(alert) },
        durationMs: toastTime(alert, leftMs),
      },
    )
  }
}

const toastTime = (alert: Alert, leftMs: number) => (hasHappened(alert) ? toastMs : Math.min(toastMs, leftMs))

const toneOf = ({ kind, job }: Alert) => {
  if (kind === 'end' || kind === 'failure') return 'danger'
  return job?.state === 'completed' ? 'ok' : 'attention'
}

/** Screen readers read the title once with a fixed time; the ticking countdown is outside of the alert role. */
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
  alert: Alert
  title: string
  body: string | undefined
  leftMs: number
  account: string
}

const notify = async ({ alert, title, body = '', leftMs, account }: Notice, show: () => void) => {
  const options = {
    body,
    tag: alert.job?.id ?? alert.devbox_id,
    // Missing from the DOM types of some browsers.
    renotify: true,
    requireInteraction: !hasHappened(alert) && leftMs <= lastCallMs,
  }
  const path = paths.evictions({ alert: alert.id })
  try {
    await showNotification({ title, options, alarm: alarmOf(alert), path, account }, show)
  } catch (error) {
    toast.attention('The browser didn’t show the notification', {
      id: 'notification-refused',
      description: problemOf(error).message,
    })
  }
}
