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

const claimedHere = new Set<string>()

const resultOf = <Result,>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/**
 * Returns the alerts whose latest alarm no tab has claimed yet, and claims them for this tab. IndexedDB transactions are
 * serialized across tabs, so each alarm has one owner. Without storage every tab announces every alarm.
 */
export const claimAlarms = async (alerts: readonly Alert[], account: string): Promise<Alert[]> => {
  const keyOf = (alert: Alert) => `${account} ${alarmOf(alert)}`
  const unclaimed = alerts.filter((alert) => !claimedHere.has(keyOf(alert)))
  for (const alert of unclaimed) claimedHere.add(keyOf(alert))
  if (unclaimed.length === 0) return []
  try {
    const opening = indexedDB.open('devdeck-alerts', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('announced')
    const database = await resultOf(opening)
    try {
      const store = database.transaction('announced', 'readwrite').objectStore('announced')
      const claimed: Alert[] = []
      for (const alert of unclaimed) {
        if ((await resultOf(store.get(keyOf(alert)))) !== undefined) continue
        store.put(Date.now(), keyOf(alert))
        claimed.push(alert)
      }
      return claimed
    } finally {
      database.close()
    }
  } catch {
    return unclaimed
  }
}

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
  const announce = (alert: Alert, { title, body, toastTitle, tone, action }: Announcement) => {
    const leftMs = timeLeftMs(feed, alert.deadline_ms, Date.now())
    if (isNotified) void notify({ alert, title: title(leftMs), body, leftMs, account })
    toast[tone](toastTitle(leftMs), {
      id: alarmOf(alert),
      description: alert.kind === 'test' ? undefined : body,
      action: { label: action, onClick: () => show(alert) },
      durationMs: hasHappened(alert) ? toastMs : Math.min(toastMs, leftMs),
    })
  }
  const [first] = alerts
  if (!first) return
  if (alerts.length > maxSeparate) {
    const isEviction = alerts.every(({ kind }) => kind === 'eviction')
    const line = isEviction
      ? `${alerts.length} devboxes will be evicted, the first`
      : `${alerts.length} alerts${hasHappened(first) ? '' : ', the first'}`
    return announce(first, {
      title: (leftMs) => (hasHappened(first) ? line : `${line} in ${formatCountdown(leftMs)}`),
      body: isEviction ? 'They will be suspended: processes end, disks are kept.' : undefined,
      toastTitle: (leftMs) => (
        <ToastTitle alert={first} leftMs={leftMs}>
          {line}
        </ToastTitle>
      ),
      tone: 'attention',
      action: 'Show alerts',
    })
  }
  for (const alert of alerts)
    announce(alert, {
      title: (leftMs) => alertLine(alert, leftMs, !hasHappened(alert)),
      body: alertConsequence(alert) ?? 'Evictions are announced like this.',
      toastTitle: (leftMs) =>
        alert.kind === 'test' ? (
          <span role="alert">Test alert: evictions are announced like this</span>
        ) : (
          <ToastTitle alert={alert} leftMs={leftMs}>
            <VisibleText max={60}>{alertName(alert)}</VisibleText> {alertEvent(alert)}
          </ToastTitle>
        ),
      tone: toneOf(alert),
      action: 'Show alert',
    })
}

interface Announcement {
  title(leftMs: number): string
  body: string | undefined
  toastTitle(leftMs: number): ReactNode
  tone: 'danger' | 'ok' | 'attention'
  action: string
}

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

const notify = async ({ alert, title, body = '', leftMs, account }: Notice) => {
  const options = {
    body,
    tag: alert.job?.id ?? alert.devbox_id,
    // Missing from the DOM types of some browsers.
    renotify: true,
    requireInteraction: !hasHappened(alert) && leftMs <= lastCallMs,
  }
  const path = paths.evictions({ alert: alert.id })
  try {
    await showNotification({ title, options, alarm: alarmOf(alert), path, account })
  } catch (error) {
    toast.attention('The browser didn’t show the notification', {
      id: 'notification-refused',
      description: problemOf(error).message,
    })
  }
}
