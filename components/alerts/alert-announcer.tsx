'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type ReactNode, useEffect, useRef } from 'react'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountdown } from '#lib/browser/format.ts'
import { serviceNow } from '#lib/client/clock.ts'
import {
  type Alert,
  groupAlerts,
  groupKeyOf,
  hasHappened,
  lastCallMs,
  reminderMs,
  severityOf,
} from '#lib/protocol/alerts.ts'
import { claimAlarms, takeoverMs, toastMs } from './alarm-claims.ts'
import { type AlertFeed, alarmOf, audibleAlerts, timeLeftMs, urgencyOf, worstFirst } from './alert-feed.ts'
import { alertSettings, playAlertSound } from './alert-settings.ts'
import { type Announcement, announcementLine, announcementOf } from './announcement.ts'
import { useConsoleOutage, useOutageAnnouncement } from './console-outage.tsx'
import { Countdown } from './countdown.tsx'
import { closeNotifications, handleNotificationClicks, notificationState, showNotification } from './notifications.ts'
import { alertQueries, followAlerts } from './queries.ts'

/** Follows the account's alerts, announces each alarm in one tab, and marks the tab's title and icon. */
export const AlertAnnouncer = ({ account }: { account: string }) => {
  const client = useQueryClient()
  const router = useRouter()
  const { data: feed } = useQuery(alertQueries.feed())
  useEffect(() => followAlerts(client), [client])
  useEffect(() => {
    const leaving = new AbortController()
    handleNotificationClicks(account, (path) => router.push(path), leaving.signal)
    return () => leaving.abort()
  }, [account, router])
  // The subscription of this browser ends with its session, and continues with the next one.
  useEffect(() => {
    if (globalThis.Notification?.permission !== 'granted') return
    void import('./push/push-browser.ts').then(({ renewPush }) => renewPush()).catch(() => undefined)
  }, [])
  // Changes with the alerts and when a silence ends.
  const alarms = useClock((nowMs) =>
    audibleAlerts(feed, nowMs)
      .filter(({ state }) => state === 'new')
      .map(alarmOf)
      .join('\n'),
  )
  useAnnouncements(feed, account, alarms)
  useDismissals(feed, alarms)
  const outageMs = useConsoleOutage()
  useOutageAnnouncement(account, outageMs)
  useTitle(feed, outageMs !== null)
  useIcon(feed, outageMs !== null)
  return null
}

const gatherMs = 2_000

const isAhead = (alert: Alert, nowMs: number) => hasHappened(alert) || timeLeftMs(alert.deadline_ms, nowMs) > 0

const useAnnouncements = (feed: AlertFeed, account: string, alarms: string) => {
  const router = useRouter()
  const latest = useRef(feed)
  latest.current = feed
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const lastMs = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const announce = async () => {
      timer.current = undefined
      const nowMs = serviceNow()
      const due = audibleAlerts(latest.current, nowMs).filter((alert) => alert.state === 'new' && isAhead(alert, nowMs))
      const { alerts, waitMs } = await claimAlarms(due, account, { shownMs: toastMs })
      if (waitMs !== undefined) timer.current ??= setTimeout(announce, waitMs)
      if (alerts.length === 0) return
      lastMs.current = performance.now()
      announceAlarms(alerts, latest.current, account, (alert) => router.push(paths.evictions({ alert: alert.id })))
    }
    // Later alarms don't restart it, or a long storm would never be announced.
    if (alarms === '' || timer.current !== undefined) return
    const gatherLeftMs = Math.max(0, lastMs.current + gatherMs - performance.now())
    timer.current = setTimeout(announce, gatherLeftMs + (document.visibilityState === 'hidden' ? takeoverMs : 0))
  }, [alarms, account, router])
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [],
  )
}

/** Alarms by the toast that shows them. */
const toasts = new Map<string, readonly string[]>()

/** Dismisses toasts and notifications once everything they are about was acknowledged, closed or silenced. */
const useDismissals = (feed: AlertFeed, alarms: string) => {
  const latest = useRef(feed)
  latest.current = feed
  const previous = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const current = new Set(alarms.split('\n'))
    for (const [id, about] of toasts) if (!about.some((alarm) => current.has(alarm))) toast.dismiss(id)
    const groups = new Set(latest.current.open.filter((alert) => current.has(alarmOf(alert))).map(groupKeyOf))
    const removed = previous.current.difference(groups)
    if (removed.size > 0) void closeNotifications(removed).catch(() => undefined)
    previous.current = groups
  }, [alarms])
}

/** Prefixes the tab's title: `(2) 01:42 · Devboxes`, or `(!) Devboxes` without a connection. */
const useTitle = (feed: AlertFeed, isOut: boolean) => {
  const alertPrefix = useClock((nowMs) => {
    const alerts = worstFirst(audibleAlerts(feed, nowMs), nowMs).filter((alert) => isAhead(alert, nowMs))
    const [first] = alerts
    if (!first) return ''
    const leftMs = timeLeftMs(first.deadline_ms, nowMs)
    const isSoon = !hasHappened(first) && leftMs <= reminderMs
    return `(${alerts.length}) ${isSoon ? `${formatCountdown(leftMs)} · ` : ''}`
  })
  const prefix = isOut ? '(!) ' : alertPrefix
  useEffect(() => {
    const apply = () => {
      const title = prefix + document.title.replace(/^\((?:\d+|!)\) (?:[\d:]+ · )?/, '')
      if (document.title !== title) document.title = title
    }
    apply()
    // Navigation replaces the title.
    const observer = new MutationObserver(apply)
    observer.observe(document.head, { childList: true, subtree: true, characterData: true })
    return () => observer.disconnect()
  }, [prefix])
}

/** Shows the red icon while an alert is unacknowledged or there is no connection. */
const useIcon = (feed: AlertFeed, isOut: boolean) => {
  const isMarked = useClock((nowMs) => isOut || urgencyOf(audibleAlerts(feed, nowMs), nowMs) !== 'neutral')
  useEffect(() => {
    if (!isMarked) return
    const link = document.createElement('link')
    link.rel = 'icon'
    link.type = 'image/svg+xml'
    link.href = '/alert-icon.svg'
    document.head.append(link)
    return () => link.remove()
  }, [isMarked])
}

const maxSeparate = 3
const evictionsToast = 'evictions'

/** Announces alarms in this tab: toasts, and sound and notifications if they are turned on. */
const announceAlarms = (alerts: readonly Alert[], feed: AlertFeed, account: string, show: (alert: Alert) => void) => {
  const { notifications, sound } = alertSettings.read()
  if (sound) void playAlertSound().catch(() => undefined)
  const isNotified = notificationState(notifications).is === 'on'
  const announce = (alerts: readonly Alert[], toastId?: string) => {
    const [group, ...others] = groupAlerts(alerts)
    if (!group) return
    const announcement = announcementOf([group, ...others])
    if (isNotified) void notify(announcement, account)
    showToast(announcement, toastId, show)
  }
  const evictions = alerts.filter(({ kind }) => kind === 'eviction')
  // The toast of evictions grows while it is shown.
  const shown = new Set([...(toasts.get(evictionsToast) ?? []), ...evictions.map(alarmOf)])
  if (evictions.length > 0)
    announce(
      feed.open.filter((alert) => alert.state === 'new' && shown.has(alarmOf(alert))),
      evictionsToast,
    )
  const others = groupAlerts(alerts.filter(({ kind }) => kind !== 'eviction'))
  if (others.length > maxSeparate) announce(others.flatMap(({ alerts }) => alerts))
  else for (const group of others) announce(group.alerts)
}

const showToast = (
  { first, alarms, name, event, body }: Announcement,
  id = alarmOf(first),
  show: (alert: Alert) => void,
) => {
  const leftMs = timeLeftMs(first.deadline_ms, serviceNow())
  const isTest = first.kind === 'test'
  toast[toneOf(first)](
    isTest ? (
      <span role="alert">Test alert: evictions are announced like this</span>
    ) : (
      <ToastTitle alert={first} leftMs={leftMs}>
        <VisibleText max={120}>{name}</VisibleText> {event}
      </ToastTitle>
    ),
    {
      id,
      description: isTest ? undefined : body,
      action: {
        label: alarms.length > 1 ? 'Show alerts' : 'Show alert',
        onClick: () => {
          toasts.delete(id)
          show(first)
        },
      },
      durationMs: hasHappened(first) ? toastMs : Math.min(toastMs, leftMs),
      onClose: () => toasts.delete(id),
    },
  )
  toasts.set(id, alarms)
}

const toneOf = (alert: Alert) => {
  if (severityOf(alert) === 'critical') return 'danger'
  return alert.job?.state === 'completed' ? 'ok' : 'attention'
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

const notify = async (announcement: Announcement, account: string) => {
  const { first, body = 'Evictions are announced like this.' } = announcement
  const leftMs = timeLeftMs(first.deadline_ms, serviceNow())
  const group = groupKeyOf(first)
  const options = {
    body,
    tag: group,
    // Missing from the DOM types of some browsers.
    renotify: true,
    requireInteraction: !hasHappened(first) && leftMs <= lastCallMs,
  }
  const path = paths.evictions({ alert: first.id })
  try {
    await showNotification({ title: announcementLine(announcement, leftMs), options, group, path, account })
  } catch (error) {
    toast.attention("The browser didn't show the notification", {
      id: 'notification-refused',
      description: problemOf(error).message,
    })
  }
}
