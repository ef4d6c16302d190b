'use client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { formatElapsedMs } from '#lib/browser/format.ts'
import { serviceNow } from '#lib/client/clock.ts'
import { claimOutage } from './alarm-claims.ts'
import { alertSettings, playAlertSound } from './alert-settings.ts'
import { notificationState, showNotification } from './notifications.ts'
import { alertQueries } from './queries.ts'

const outageMs = 60_000
/** A computer that wakes from sleep has not reached the console for long, but is back within seconds. */
const wakeMs = 10_000

/** When this page last reached the console; null while it does, and for the first minute. */
export const useConsoleOutage = (): number | null => {
  const { unreachableMs } = useQuery(alertQueries.feed()).data.health
  const [isOut, setIsOut] = useState(false)
  useEffect(() => {
    if (unreachableMs === undefined) return
    const timer = setTimeout(() => setIsOut(true), Math.max(wakeMs, unreachableMs + outageMs - serviceNow()))
    return () => {
      clearTimeout(timer)
      setIsOut(false)
    }
  }, [unreachableMs])
  return isOut ? (unreachableMs ?? null) : null
}

export const ConsoleOutageBanner = ({ sinceMs }: { sinceMs: number }) => {
  const elapsed = useClock((nowMs) => formatElapsedMs(nowMs - sinceMs))
  return (
    <Banner
      tone="danger"
      role="status"
      className="border-x-0 border-t-0 md:px-6"
      title={`No connection to Devdeck for ${elapsed}`}
    >
      New evictions are not shown or announced. What you see may be out of date.
    </Banner>
  )
}

/** The console can't announce its own outage, so one tab of the browser does. */
export const useOutageAnnouncement = (account: string, sinceMs: number | null) => {
  const isAnnounced = useRef(false)
  useEffect(() => {
    if (sinceMs === null && isAnnounced.current) {
      isAnnounced.current = false
      toast.ok('Connected to Devdeck again', { id: outageId })
      notify(account, 'Connected to Devdeck again', '')
    }
    if (sinceMs !== null)
      void claimOutage(sinceMs, account).then((isClaimed) => {
        if (!isClaimed) return
        isAnnounced.current = true
        announceOutage(account)
      })
  }, [account, sinceMs])
}

const outageId = 'console-outage'

const announceOutage = (account: string) => {
  const title = 'No connection to Devdeck'
  const description = 'Nothing received for a minute. Evictions are not announced until the connection is back.'
  if (alertSettings.read().sound) void playAlertSound().catch(() => undefined)
  toast.danger(<span role="alert">{title}</span>, { id: outageId, description, durationMs: Number.POSITIVE_INFINITY })
  notify(account, title, description)
}

const notify = (account: string, title: string, body: string) => {
  if (notificationState(alertSettings.read().notifications).is !== 'on') return
  const options = { body, tag: outageId, renotify: true }
  void showNotification({ title, options, group: outageId, path: paths.evictions(), account }).catch(() => undefined)
}
