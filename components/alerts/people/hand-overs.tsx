'use client'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Alert, nameInText } from '#lib/protocol/alerts.ts'
import { claimAlarms, takeoverMs, toastMs } from '../alarm-claims.ts'
import { alertSettings, playAlertSound } from '../alert-settings.ts'
import { notificationState, showNotification } from '../notifications.ts'
import { alertQueries } from '../queries.ts'
import { alertsName } from './alerts-name.ts'
import { isHeldBy, useOwnLabel } from './own-name.ts'

/** Announces alerts that someone else handed over to this person, once per browser. */
export const HandOverAnnouncer = ({ account }: { account: string }) => {
  const router = useRouter()
  const { data: feed } = useQuery(alertQueries.feed())
  const own = useOwnLabel()
  const given = feed.open.filter((alert) => isHeldBy(own, alert) && isGivenByAnother(alert, own))
  const latest = useRef(given)
  latest.current = given
  const keys = given.map(handOverKey).join('\n')
  useEffect(() => {
    if (keys === '') return
    const announce = async () => {
      const { alerts: claimed } = await claimAlarms(latest.current, account, { keyOf: handOverKey })
      const [first] = claimed
      const by = first && handOverOf(first)?.by
      if (!first || !by) return
      const path = claimed.length === 1 ? paths.alert(first.id) : paths.evictions({ alert: first.id })
      const name = alertsName(claimed)
      toast.attention(
        <span role="alert">
          <VisibleText max={100}>{by}</VisibleText> handed over <VisibleText max={100}>{name}</VisibleText> to you
        </span>,
        {
          id: handOverKey(first),
          action: { label: 'Show', onClick: () => router.push(path) },
          durationMs: toastMs,
        },
      )
      const { notifications, sound } = alertSettings.read()
      if (sound) void playAlertSound().catch(() => undefined)
      if (notificationState(notifications).is !== 'on') return
      const group = handOverKey(first)
      const options = { tag: group, body: 'Acknowledged on your behalf.' }
      await showNotification({
        title: `${nameInText(by)} handed over ${name} to you`,
        options,
        group,
        path,
        account,
      }).catch(() => undefined)
    }
    const timer = setTimeout(() => void announce(), document.visibilityState === 'hidden' ? takeoverMs : 0)
    return () => clearTimeout(timer)
  }, [keys, account, router])
  return null
}

const handOverOf = ({ log = [] }: Alert) =>
  log.findLast(({ what }) => what === 'handed_over' || what === 'acknowledged')

const isGivenByAnother = (alert: Alert, own: string | undefined): boolean => {
  const last = handOverOf(alert)
  return last?.what === 'handed_over' && last.by !== own
}

const handOverKey = (alert: Alert): string => `${alert.id} handed over ${handOverOf(alert)?.at_ms}`
