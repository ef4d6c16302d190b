'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { alarmOf, alertLeftMs, gatheringMs, loudAlerts, urgencyOf } from '#lib/browser/alerts/alert-feed.ts'
import { lastAnnouncedMs, setLastAnnounced } from '#lib/browser/alerts/last-announced.ts'
import { answerNotifications, closeNotifications } from '#lib/browser/alerts/notification-clicks.ts'
import { isAnotherTabVisible, showPresence } from '#lib/browser/alerts/presence.ts'
import { formatCountdown } from '#lib/browser/live/eviction-feed.ts'
import { alertQueries, followAlerts } from '#lib/browser/queries/alerts.ts'
import { hasHappened } from '#lib/protocol/alerts.ts'

/** Follows the alerts while the frame is, announces each alarm in one tab of the browser, and marks the tab itself. */
export const AlertAnnouncer = ({ account }: { account: string }) => {
  const client = useQueryClient()
  useEffect(() => followAlerts(client), [client])
  useEffect(() => {
    const leaving = new AbortController()
    showPresence(leaving.signal)
    return () => leaving.abort()
  }, [])
  const alarms = useAlarms()
  useAnnouncements(account, alarms)
  useNotificationClicks(account)
  useWithdrawals(alarms)
  useTitle()
  useIcon()
  return null
}

const useNotificationClicks = (account: string) => {
  const router = useRouter()
  useEffect(() => {
    const leaving = new AbortController()
    answerNotifications(account, (path) => router.push(path), leaving.signal)
    return () => leaving.abort()
  }, [account, router])
}

/** The alarms of what nobody has taken on, as one text: it changes with the alerts, and when the time of a silence is over. */
const useAlarms = (): string => {
  const { data: feed } = useQuery(alertQueries.feed())
  return useClock((nowMs) =>
    loudAlerts(feed, nowMs)
      .filter(({ state }) => state === 'new')
      .map(alarmOf)
      .join(' '),
  )
}

/** What the tab that is looked at has not announced by then, another does. */
const takeoverMs = 1_500

const useAnnouncements = (account: string, alarms: string) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const router = useRouter()
  const latest = useRef(feed)
  latest.current = feed
  const { open, silences } = feed
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was not due yet is looked at with every change again
  useEffect(() => {
    if (alarms === '') return
    const announce = async () => {
      const nowMs = Date.now()
      const due = loudAlerts(latest.current, nowMs).filter(
        (alert) => alert.state === 'new' && (hasHappened(alert) || alertLeftMs(latest.current, alert, nowMs) > 0),
      )
      if (due.length === 0) return
      const { claimAlarms, tell } = await import('./alert-announcement.tsx')
      const claimed = await claimAlarms(due, account)
      if (claimed.length === 0) return
      setLastAnnounced(account, Date.now())
      tell(claimed, latest.current, account, (alert) => router.push(paths.evictions({ alert: alert.id })))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    void isAnotherTabVisible().then((isLeft) => {
      const lastMs = lastAnnouncedMs(account)
      const sinceMs = Date.now() - lastMs
      // A clock that was set back must not hold up an alarm.
      const gatherLeftMs = sinceMs < 0 ? 0 : Math.max(0, gatheringMs(latest.current, lastMs) - sinceMs)
      const waitMs = gatherLeftMs + (isLeft ? takeoverMs : 0)
      if (isOver) return
      // The timers of a hidden tab are late.
      if (waitMs <= 0) void announce()
      else timer = setTimeout(announce, waitMs)
    })
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [alarms, open, silences, account, router])
}

/** Dismisses the toasts and notifications of alarms that are acknowledged, over or silenced. */
const useWithdrawals = (alarms: string) => {
  const before = useRef<string[]>([])
  useEffect(() => {
    const current = alarms.split(' ')
    const left = new Set(current)
    const gone = before.current.filter((alarm) => alarm !== '' && !left.has(alarm))
    for (const alarm of gone) toast.dismiss(alarm)
    if (gone.length > 0) void closeNotifications(new Set(gone)).catch(() => undefined)
    before.current = current
  }, [alarms])
}

/** `(2) 01:42 · Devboxes`: how many alerts there are, and how long until the first deadline when that is soon. */
const useTitle = () => {
  const { data: feed } = useQuery(alertQueries.feed())
  const mark = useClock((nowMs) => {
    const ahead = loudAlerts(feed, nowMs).filter((alert) => hasHappened(alert) || alertLeftMs(feed, alert, nowMs) > 0)
    const [first] = ahead
    if (!first) return ''
    if (hasHappened(first)) return `(${ahead.length}) `
    const leftMs = alertLeftMs(feed, first, nowMs)
    return `(${ahead.length}) ${leftMs <= soonMs ? `${formatCountdown(leftMs)} · ` : ''}`
  })
  useEffect(() => {
    const apply = () => {
      const wanted = mark + document.title.replace(/^\(\d+\) (?:[\d:]+ · )?/, '')
      if (document.title !== wanted) document.title = wanted
    }
    apply()
    // Navigation writes a new title; it is ours to count in again.
    const observer = new MutationObserver(apply)
    observer.observe(document.head, { childList: true, subtree: true, characterData: true })
    return () => observer.disconnect()
  }, [mark])
}

const soonMs = 10 * 60_000

/** The icon of the tab has a red dot while an alert waits for somebody. */
const useIcon = () => {
  const { data: feed } = useQuery(alertQueries.feed())
  const isMarked = useClock((nowMs) => urgencyOf(loudAlerts(feed, nowMs), feed, nowMs) !== 'neutral')
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
