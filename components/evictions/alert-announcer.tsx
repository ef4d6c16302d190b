'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/console/address/paths.ts'
import { alarmOf, alertLeftMs, loudAlerts, urgencyOf } from '#lib/console/alerts/alert-feed.ts'
import { answerNotifications, closeNotification } from '#lib/console/alerts/notification-clicks.ts'
import { isAnotherTabVisible, showPresence } from '#lib/console/alerts/presence.ts'
import { formatCountdown } from '#lib/console/live/eviction-feed.ts'
import { alertQueries, followAlerts } from '#lib/console/queries/alerts.ts'
import { hasHappened } from '#lib/wire/alerts.ts'

/** Follows the alerts while the frame is, announces each alarm in one tab of the browser, and marks the tab itself. */
export const AlertAnnouncer = ({ account }: { account: string }) => {
  const client = useQueryClient()
  useEffect(() => followAlerts(client), [client])
  useEffect(() => {
    const leaving = new AbortController()
    showPresence(leaving.signal)
    return () => leaving.abort()
  }, [])
  useAnnouncements(account)
  useNotificationClicks(account)
  useWithdrawals()
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

/** What the tab that is looked at has not announced by then, another does. */
const takeoverMs = 1_500

const useAnnouncements = (account: string) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const router = useRouter()
  const latest = useRef(feed)
  latest.current = feed
  const { open, silences } = feed
  // biome-ignore lint/correctness/useExhaustiveDependencies: a silence that ends makes its alerts heard
  useEffect(() => {
    const announce = async () => {
      const nowMs = Date.now()
      const due = loudAlerts(latest.current, nowMs).filter(
        (alert) => alert.state === 'new' && (hasHappened(alert) || alertLeftMs(latest.current, alert, nowMs) > 0),
      )
      if (due.length === 0) return
      const { claimAlarms, tell } = await import('./alert-announcement.tsx')
      const claimed = await claimAlarms(due, account)
      if (claimed.length > 0)
        tell(claimed, latest.current, account, (alert) => router.push(paths.evictions({ alert: alert.id })))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    void isAnotherTabVisible().then((isLeft) => {
      if (isLeft) timer = setTimeout(announce, takeoverMs)
      else void announce()
    })
    return () => clearTimeout(timer)
  }, [open, silences, account, router])
}

/** Takes back the toast and the notification of an alarm that somebody took on, or that is over or silenced. */
const useWithdrawals = () => {
  const { data: feed } = useQuery(alertQueries.feed())
  const current = useClock((nowMs) =>
    loudAlerts(feed, nowMs)
      .filter(({ state }) => state === 'new')
      .map(alarmOf)
      .join(' '),
  )
  const before = useRef<string[]>([])
  useEffect(() => {
    const alarms = current.split(' ')
    for (const alarm of before.current) {
      if (alarm === '' || alarms.includes(alarm)) continue
      toast.dismiss(alarm)
      void closeNotification(alarm).catch(() => undefined)
    }
    before.current = alarms
  }, [current])
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
