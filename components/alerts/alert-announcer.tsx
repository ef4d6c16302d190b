'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountdown } from '#lib/browser/format.ts'
import { type Alert, hasHappened, reminderMs } from '#lib/protocol/alerts.ts'
import { type AlertFeed, alarmOf, audibleAlerts, timeLeftMs, urgencyOf } from './alert-feed.ts'
import { announceAlarms, claimAlarms } from './announce-alarms.tsx'
import { closeNotifications, handleNotificationClicks } from './notifications.ts'
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

const isAhead = (alert: Alert, feed: AlertFeed, nowMs: number) =>
  hasHappened(alert) || timeLeftMs(feed, alert.deadline_ms, nowMs) > 0

const useAnnouncements = (feed: AlertFeed, account: string, alarms: string) => {
  const router = useRouter()
  const latest = useRef(feed)
  latest.current = feed
  const lastMs = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (alarms === '') return
    const announce = async () => {
      const nowMs = Date.now()
      const due = audibleAlerts(latest.current, nowMs).filter(
        (alert) => alert.state === 'new' && isAhead(alert, latest.current, nowMs),
      )
      const claimed = await claimAlarms(due, account)
      if (claimed.length === 0) return
      lastMs.current = performance.now()
      announceAlarms(claimed, latest.current, account, (alert) => router.push(paths.evictions({ alert: alert.id })))
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
    const alerts = audibleAlerts(feed, nowMs).filter((alert) => isAhead(alert, feed, nowMs))
    const [first] = alerts
    if (!first) return ''
    const leftMs = timeLeftMs(feed, first.deadline_ms, nowMs)
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
