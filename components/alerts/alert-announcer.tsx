'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { devboxKeys } from '#components/devboxes/query-keys.ts'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountdown } from '#lib/browser/format.ts'
import { hasHappened } from '#lib/protocol/alerts.ts'
import { alarmOf, audibleAlerts, gatheringMs, pendingEvictions, timeLeftMs, urgencyOf } from './alert-feed.ts'
import { announceAlarms } from './announce-alarms.tsx'
import {
  claimAlarms,
  holdVisibleLock,
  isOnlyAnotherTabVisible,
  lastAnnouncedMs,
  setLastAnnounced,
} from './announcing-tab.ts'
import { closeNotifications, handleNotificationClicks } from './notifications.ts'
import { alertQueries, followAlerts } from './queries.ts'

/** Follows the account's alerts, announces each alarm in one tab, and marks the tab's title and icon. */
export const AlertAnnouncer = ({ account }: { account: string }) => {
  const client = useQueryClient()
  const router = useRouter()
  useEffect(() => followAlerts(client), [client])
  useEffect(() => {
    const leaving = new AbortController()
    holdVisibleLock(leaving.signal)
    handleNotificationClicks(account, (path) => router.push(path), leaving.signal)
    return () => leaving.abort()
  }, [account, router])
  const alarms = useAlarms()
  useAnnouncements(account, alarms)
  useDismissals(alarms)
  useRefreshAtDeadline()
  useTitle()
  useIcon()
  return null
}

const useAlertFeed = () => useQuery(alertQueries.feed()).data

/** Unacknowledged alarms joined into one string, which changes with the alerts and when a silence ends. */
const useAlarms = (): string => {
  const feed = useAlertFeed()
  return useClock((nowMs) =>
    audibleAlerts(feed, nowMs)
      .filter(({ state }) => state === 'new')
      .map(alarmOf)
      .join(' '),
  )
}

/** A hidden tab waits this long for the visible one to announce first. */
const takeoverMs = 1_500

const useAnnouncements = (account: string, alarms: string) => {
  const feed = useAlertFeed()
  const router = useRouter()
  const latest = useRef(feed)
  latest.current = feed
  const { open, silences } = feed
  // biome-ignore lint/correctness/useExhaustiveDependencies: any change of the alerts may make one due
  useEffect(() => {
    if (alarms === '') return
    const announce = async () => {
      const nowMs = Date.now()
      const due = audibleAlerts(latest.current, nowMs).filter(
        (alert) =>
          alert.state === 'new' && (hasHappened(alert) || timeLeftMs(latest.current, alert.deadline_ms, nowMs) > 0),
      )
      if (due.length === 0) return
      const claimed = await claimAlarms(due, account)
      if (claimed.length === 0) return
      setLastAnnounced(account, Date.now())
      announceAlarms(claimed, latest.current, account, (alert) => router.push(paths.evictions({ alert: alert.id })))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    let isCanceled = false
    void isOnlyAnotherTabVisible().then((isHidden) => {
      const lastMs = lastAnnouncedMs(account)
      const sinceMs = Date.now() - lastMs
      // Negative after the clock was set back, which must not delay an alarm.
      const gatherLeftMs = sinceMs < 0 ? 0 : Math.max(0, gatheringMs(latest.current, lastMs) - sinceMs)
      const waitMs = gatherLeftMs + (isHidden ? takeoverMs : 0)
      if (isCanceled) return
      // Browsers throttle the timers of hidden tabs.
      if (waitMs <= 0) void announce()
      else timer = setTimeout(announce, waitMs)
    })
    return () => {
      isCanceled = true
      clearTimeout(timer)
    }
  }, [alarms, open, silences, account, router])
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

/** The suspension itself takes a moment. */
const suspensionMs = 300

/** Refetches devboxes after an eviction deadline, so that pages show the outcome. */
const useRefreshAtDeadline = () => {
  const feed = useAlertFeed()
  const client = useQueryClient()
  const due = useClock(
    (nowMs) =>
      pendingEvictions(feed).findLast(({ deadline_ms }) => timeLeftMs(feed, deadline_ms, nowMs) === 0)?.id ?? null,
  )
  useEffect(() => {
    if (due === null) return
    const timer = setTimeout(() => void client.invalidateQueries({ queryKey: devboxKeys.all }), suspensionMs)
    return () => clearTimeout(timer)
  }, [due, client])
}

/** Deadlines closer than this are shown in the tab's title. */
const soonMs = 10 * 60_000

/** Prefixes the tab's title: `(2) 01:42 · Devboxes`. */
const useTitle = () => {
  const feed = useAlertFeed()
  const prefix = useClock((nowMs) => {
    const alerts = audibleAlerts(feed, nowMs).filter(
      (alert) => hasHappened(alert) || timeLeftMs(feed, alert.deadline_ms, nowMs) > 0,
    )
    const [first] = alerts
    if (!first) return ''
    if (hasHappened(first)) return `(${alerts.length}) `
    const leftMs = timeLeftMs(feed, first.deadline_ms, nowMs)
    return `(${alerts.length}) ${leftMs <= soonMs ? `${formatCountdown(leftMs)} · ` : ''}`
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
const useIcon = () => {
  const feed = useAlertFeed()
  const isMarked = useClock((nowMs) => urgencyOf(audibleAlerts(feed, nowMs), feed, nowMs) !== 'neutral')
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
