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
import { type Alert, groupAlerts, hasHappened, lastCallMs, reminderMs } from '#lib/protocol/alerts.ts'
import { type AlertFeed, alarmOf, audibleAlerts, timeLeftMs, urgencyOf } from './alert-feed.ts'
import { alertSettings, playAlertSound } from './alert-settings.ts'
import { alertEvent, groupConsequence, groupLine, groupName } from './alert-text.ts'
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
  // Changes with the alerts and when a silence ends.
  const alarms = useClock((nowMs) =>
    audibleAlerts(feed, nowMs)
      .filter(({ state }) => state === 'new')
      .map(alarmOf)
      .join(' '),
  )
  useAnnouncements(feed, account, alarms)
  useDismissals(alarms)
  useTitle(feed)
  useIcon(feed)
  return null
}

const gatherMs = 2_000
/** A hidden tab waits this long for a visible one to announce first. */
const takeoverMs = 1_500

const isAhead = (alert: Alert, nowMs: number) => hasHappened(alert) || timeLeftMs(alert.deadline_ms, nowMs) > 0

const useAnnouncements = (feed: AlertFeed, account: string, alarms: string) => {
  const router = useRouter()
  const latest = useRef(feed)
  latest.current = feed
  const lastMs = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (alarms === '') return
    const announce = async () => {
      const nowMs = serviceNow()
      const due = audibleAlerts(latest.current, nowMs).filter((alert) => alert.state === 'new' && isAhead(alert, nowMs))
      const claimed = await claimAlarms(due, account)
      if (claimed.length === 0) return
      lastMs.current = performance.now()
      announceAlarms(claimed, account, (alert) => router.push(paths.evictions({ alert: alert.id })))
    }
    const gatherLeftMs = Math.max(0, lastMs.current + gatherMs - performance.now())
    const timer = setTimeout(announce, gatherLeftMs + (document.visibilityState === 'hidden' ? takeoverMs : 0))
    return () => clearTimeout(timer)
  }, [alarms, account, router])
}

/** Dismisses toasts and notifications of alarms that were acknowledged, closed or silenced. */
const useDismissals = (alarms: string) => {
  const previous = useRef<string[]>([])
  useEffect(() => {
    const current = new Set(alarms.split(' '))
    const removed = previous.current.filter((alarm) => alarm !== '' && !current.has(alarm))
    for (const alarm of removed) toast.dismiss(alarm)
    if (removed.length > 0) void closeNotifications(new Set(removed)).catch(() => undefined)
    previous.current = [...current]
  }, [alarms])
}

/** Prefixes the tab's title: `(2) 01:42 · Devboxes`. */
const useTitle = (feed: AlertFeed) => {
  const prefix = useClock((nowMs) => {
    const alerts = audibleAlerts(feed, nowMs).filter((alert) => isAhead(alert, nowMs))
    const [first] = alerts
    if (!first) return ''
    const leftMs = timeLeftMs(first.deadline_ms, nowMs)
    const isSoon = !hasHappened(first) && leftMs <= reminderMs
    return `(${alerts.length}) ${isSoon ? `${formatCountdown(leftMs)} · ` : ''}`
  })
  useEffect(() => {
    const apply = () => {
      const title = prefix + document.title.replace(/^\(\d+\) (?:[\d:]+ · )?/, '')
      if (document.title !== title) document.title = title
    }
    apply()
    // Navigation replaces the title.
    const observer = new MutationObserver(apply)
    observer.observe(document.head, { childList: true, subtree: true, characterData: true })
    return () => observer.disconnect()
  }, [prefix])
}

/** Shows the red icon while an alert is unacknowledged. */
const useIcon = (feed: AlertFeed) => {
  const isMarked = useClock((nowMs) => urgencyOf(audibleAlerts(feed, nowMs), nowMs) !== 'neutral')
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

const claimedHere = new Set<string>()

const resultOf = <Result,>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** Claims the alarms that no tab has claimed yet. Without storage every tab announces every alarm. */
const claimAlarms = async (alerts: readonly Alert[], account: string): Promise<Alert[]> => {
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
        store.put(serviceNow(), keyOf(alert))
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
const announceAlarms = (alerts: readonly Alert[], account: string, show: (alert: Alert) => void) => {
  const { notifications, sound } = alertSettings.read()
  if (sound) void playAlertSound().catch(() => undefined)
  const isNotified = notificationState(notifications).is === 'on'
  const announce = (alert: Alert, { title, body, toastTitle, tone, action }: Announcement) => {
    const leftMs = timeLeftMs(alert.deadline_ms, serviceNow())
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
  const groups = groupAlerts(alerts)
  if (groups.length > maxSeparate) {
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
  for (const group of groups) {
    const [alert] = group.alerts
    announce(alert, {
      title: (leftMs) => groupLine(group, leftMs, !hasHappened(alert)),
      body: groupConsequence(group) ?? 'Evictions are announced like this.',
      toastTitle: (leftMs) =>
        alert.kind === 'test' ? (
          <span role="alert">Test alert: evictions are announced like this</span>
        ) : (
          <ToastTitle alert={alert} leftMs={leftMs}>
            <VisibleText max={120}>{groupName(group)}</VisibleText> {alertEvent(alert)}
          </ToastTitle>
        ),
      tone: toneOf(alert),
      action: group.alerts.length > 1 ? 'Show alerts' : 'Show alert',
    })
  }
}

interface Announcement {
  title(leftMs: number): string
  body: string | undefined
  toastTitle(leftMs: number): ReactNode
  tone: 'danger' | 'ok' | 'attention'
  action: string
}

const toneOf = ({ kind, job }: Alert) => {
  if (kind === 'end' || kind === 'failure' || kind === 'watch') return 'danger'
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
