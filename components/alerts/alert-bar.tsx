'use client'
import { useQuery } from '@tanstack/react-query'
import { Camera, Check, ChevronUp, CircleAlert, RefreshCw, Timer } from 'lucide-react'
import Link from 'next/link'
import { toneClasses } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatElapsedMs } from '#lib/browser/format.ts'
import { type Alert, groupAlerts, hasHappened } from '#lib/protocol/alerts.ts'
import { isOverdue, lastConfirmedMs, timeLeftMs, urgencyOf } from './alert-feed.ts'
import { alertEvent, groupName } from './alert-text.ts'
import { Countdown } from './countdown.tsx'
import { useAcknowledge } from './people/use-ownership.tsx'
import { alertQueries } from './queries.ts'
import { useAudibleAlerts } from './use-audible-alerts.ts'
import { useRescue } from './use-rescue.ts'

const useAlertFeed = () => useQuery(alertQueries.feed()).data

/** The color of what is named, whatever else is pending. */
const useTone = (named: readonly Alert[]) => useClock((nowMs) => urgencyOf(named, nowMs))

export const AlertBar = ({ onCollapse }: { onCollapse: () => void }) => {
  const alerts = useAudibleAlerts()
  const [group] = groupAlerts(alerts)
  const tone = useTone(group?.alerts ?? [])
  if (!group) return null
  const [first] = group.alerts
  const Icon = hasHappened(first) ? CircleAlert : Timer
  const unacknowledged = alerts.filter(({ state }) => state === 'new')
  const others = alerts.length - group.alerts.length
  const acknowledged = alerts.length - unacknowledged.length
  return (
    <section
      aria-label={alerts.some(({ kind }) => kind !== 'eviction' && kind !== 'test') ? 'Alerts' : 'Pending evictions'}
      className={classes(
        'flex flex-wrap items-center gap-x-2 border-b px-3 pt-1.5 pb-[5px] whitespace-nowrap md:px-6',
        toneClasses[tone],
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" />
      <p className="flex min-w-0 flex-1 items-center gap-1.5 overflow-hidden text-text">
        <Link
          href={group.alerts.length > 1 ? paths.evictions({ alert: first.id }) : paths.alert(first.id)}
          className={classes('truncate font-medium hover:underline', first.watch ? 'shrink-0' : 'min-w-0')}
          prefetch={false}
        >
          <VisibleText max={120}>{groupName(group)}</VisibleText>
        </Link>
        <span className={first.watch ? 'min-w-0 truncate' : 'shrink-0'}>
          <TimeLeft alert={first} isMany={group.alerts.length > 1} />
        </span>
        {others > 0 && (
          <TextLink href={paths.evictions()} prefetch={false} className="tabular shrink-0">
            <span aria-hidden className="sm:hidden">
              +{formatCount(others)}
            </span>
            <span className="max-sm:sr-only">{formatCount(others)} more</span>
          </TextLink>
        )}
        {acknowledged > 0 && (
          <span className="hidden shrink-0 text-muted sm:inline">{formatCount(acknowledged)} acknowledged</span>
        )}
        <Caveat className="truncate max-lg:hidden" />
      </p>
      {first.kind === 'end' && <Rescue alert={first} />}
      <Acknowledge alerts={unacknowledged} />
      <IconButton size="sm" icon={ChevronUp} label="Collapse the alert bar" onClick={onCollapse} />
      <Caveat className="basis-full text-sm whitespace-normal lg:hidden" />
      <Milestones alert={first} />
    </section>
  )
}

export const AlertBadge = ({ onExpand }: { onExpand: () => void }) => {
  const alerts = useAudibleAlerts()
  const [first] = alerts
  const tone = useTone(alerts.slice(0, 1))
  const isAhead = useClock(
    (nowMs) => first !== undefined && !hasHappened(first) && timeLeftMs(first.deadline_ms, nowMs) > 0,
  )
  if (!first) return null
  return (
    <button
      type="button"
      onClick={onExpand}
      title="Show the alert bar"
      className={classes('inline-flex h-7 items-center gap-1.5 rounded-full border px-2 text-sm', toneClasses[tone])}
    >
      <Timer aria-hidden className="size-3.5" />
      <span className="tabular">{formatCount(alerts.length)}</span>
      <span className="sr-only">
        {alerts.length === 1 ? 'alert' : 'alerts'}
        {isAhead && (alerts.length === 1 ? ', in' : ', the first in')}
      </span>
      {isAhead && <Countdown deadlineMs={first.deadline_ms} />}
    </button>
  )
}

const TimeLeft = ({ alert, isMany }: { alert: Alert; isMany: boolean }) => {
  const isNow = useClock((nowMs) => timeLeftMs(alert.deadline_ms, nowMs) === 0)
  const isPastDue = useClock((nowMs) => isOverdue(alert, nowMs))
  if (alert.watch)
    return (
      <>
        {alertEvent(alert)}
        <span className="max-sm:hidden">
          : <VisibleText max={200}>{alert.watch.detail}</VisibleText>
        </span>
      </>
    )
  if (hasHappened(alert)) return alertEvent(alert)
  const kind = alert.kind === 'test' || alert.kind === 'end' ? alert.kind : 'eviction'
  const { ahead, now, past } = phrases[isMany ? 'evictions' : kind]
  if (isPastDue)
    return (
      <>
        {past} <RelativeTime ms={alert.deadline_ms} />
      </>
    )
  return isNow ? (
    now
  ) : (
    <>
      <span className="max-sm:sr-only">{ahead} in </span>
      <Countdown deadlineMs={alert.deadline_ms} />
      {alert.end?.is_at_least && <span className="max-sm:sr-only"> at the earliest</span>}
    </>
  )
}

const phrases = {
  eviction: { ahead: 'will be evicted', now: 'is being evicted', past: 'was due to be evicted' },
  evictions: { ahead: 'will be evicted', now: 'are being evicted', past: 'were due to be evicted' },
  end: { ahead: 'will be deleted', now: 'is being deleted', past: 'was due to be deleted' },
  test: { ahead: 'ends', now: 'ends now', past: 'ended' },
}

const Rescue = ({ alert }: { alert: Alert }) => {
  const { keepAlive, snapshot, isBusy } = useRescue()
  return (
    <>
      {alert.end?.cause === 'keep_alive' && (
        <>
          <span className="max-sm:hidden">
            <Button
              size="sm"
              icon={RefreshCw}
              needs="devboxes.keepAlive"
              busy={isBusy}
              onClick={() => keepAlive(alert.devbox_id)}
            >
              Keep alive
            </Button>
          </span>
          <span className="sm:hidden">
            <IconButton
              size="sm"
              icon={RefreshCw}
              label="Keep alive"
              needs="devboxes.keepAlive"
              onClick={() => keepAlive(alert.devbox_id)}
            />
          </span>
        </>
      )}
      <span className="max-sm:hidden">
        <Button size="sm" icon={Camera} needs="snapshots.createAsync" onClick={() => snapshot(alert.devbox_id)}>
          Snapshot
        </Button>
      </span>
    </>
  )
}

const Acknowledge = ({ alerts }: { alerts: readonly Alert[] }) => {
  const { acknowledge, isPending } = useAcknowledge()
  if (alerts.length === 0) return null
  return (
    <Button size="sm" icon={Check} needs="/api/alerts" busy={isPending} onClick={() => acknowledge(alerts)}>
      {alerts.length === 1 ? 'Acknowledge' : `Acknowledge ${formatCount(alerts.length)}`}
    </Button>
  )
}

/** Warns that the alert may be out of date. */
const Caveat = ({ className }: { className: string }) => {
  const confirmedMs = lastConfirmedMs(useAlertFeed())
  const text = useClock((nowMs) =>
    confirmedMs === null ? null : `No updates for ${formatElapsedMs(nowMs - confirmedMs)}; this may be out of date.`,
  )
  return text && <span className={classes('text-muted', className)}>{text}</span>
}

const milestoneMinutes = [1, 2, 5, 10]

/** Tells screen readers the time left at a few milestones instead of every second. */
const Milestones = ({ alert }: { alert: Alert }) => {
  const minutes = useClock((nowMs) => {
    if (hasHappened(alert)) return null
    const leftMs = timeLeftMs(alert.deadline_ms, nowMs)
    return milestoneMinutes.find((each) => leftMs > 0 && leftMs <= each * 60_000) ?? null
  })
  return (
    <p role="status" className="sr-only">
      {minutes &&
        `Less than ${minutes === 1 ? 'a minute' : `${minutes} minutes`} until ${alert.kind === 'end' ? 'a devbox and its disk are deleted' : 'the next eviction'}`}
    </p>
  )
}
