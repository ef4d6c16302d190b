'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Camera, Check, ChevronUp, CircleAlert, RefreshCw, Timer } from 'lucide-react'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { toneClasses } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { isAway } from '#components/ui/live-badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import {
  type AlertFeed,
  alertHref,
  alertLeftMs,
  alertName,
  clockError,
  isPast,
  loudAlerts,
  nextFirst,
  urgencyOf,
} from '#lib/browser/alerts/alert-feed.ts'
import { formatElapsedMs } from '#lib/browser/format.ts'
import { alertMutations, alertQueries } from '#lib/browser/queries/alerts.ts'
import { type Alert, hasHappened } from '#lib/protocol/alerts.ts'
import { alertEvent } from './alert-words.ts'
import { Countdown } from './countdown.tsx'
import { useRescue } from './use-rescue.ts'

/** What is ahead or has happened, in one line on every page: the soonest, how many more, and what can be done. */
export const AlertBar = ({ onCollapse }: { onCollapse: () => void }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const { alerts, tone } = useLoudAlerts(feed)
  const [first] = alerts
  if (!first) return null
  const Icon = hasHappened(first) ? CircleAlert : Timer
  const waiting = alerts.filter(({ state }) => state === 'new')
  const others = alerts.length - 1
  const taken = alerts.length - waiting.length
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
        <Link href={alertHref(first)} className="min-w-0 truncate font-medium hover:underline" prefetch={false}>
          <VisibleText max={60}>{alertName(first)}</VisibleText>
        </Link>
        <span className="shrink-0">
          <Left feed={feed} alert={first} />
        </span>
        {others > 0 && (
          <TextLink href={paths.evictions()} prefetch={false} className="tabular shrink-0">
            <span aria-hidden className="sm:hidden">
              +{others}
            </span>
            <span className="max-sm:sr-only">{others} more</span>
          </TextLink>
        )}
        {taken > 0 && <span className="hidden shrink-0 text-muted sm:inline">{taken} acknowledged</span>}
        <Doubt feed={feed} className="truncate max-lg:hidden" />
      </p>
      {first.kind === 'end' && <Rescue alert={first} />}
      <Acknowledge alerts={waiting} />
      <IconButton size="sm" icon={ChevronUp} label="Collapse the bar of alerts" onClick={onCollapse} />
      <Doubt feed={feed} className="basis-full text-sm whitespace-normal lg:hidden" />
      <Milestones feed={feed} alert={first} />
    </section>
  )
}

/** In the header while the bar is collapsed: how many, and when the first. */
export const AlertBadge = ({ onExpand }: { onExpand: () => void }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const { alerts, tone } = useLoudAlerts(feed)
  const [first] = alerts
  const isAhead = useClock((nowMs) => first !== undefined && !hasHappened(first) && alertLeftMs(feed, first, nowMs) > 0)
  if (!first) return null
  return (
    <button
      type="button"
      onClick={onExpand}
      title="Show the bar of alerts"
      className={classes('inline-flex h-7 items-center gap-1.5 rounded-full border px-2 text-sm', toneClasses[tone])}
    >
      <Timer aria-hidden className="size-3.5" />
      <span className="tabular">{alerts.length}</span>
      <span className="sr-only">
        {alerts.length === 1 ? 'alert' : 'alerts'}
        {isAhead && (alerts.length === 1 ? ', in' : ', the first in')}
      </span>
      {isAhead && <Countdown deadlineMs={first.deadline_ms} />}
    </button>
  )
}

const useLoudAlerts = (feed: AlertFeed) => {
  // A text tells when they change: the clock looks four times a second.
  const ids = useClock((nowMs) =>
    nextFirst(loudAlerts(feed, nowMs), feed, nowMs)
      .map(({ id }) => id)
      .join(' '),
  )
  const tone = useClock((nowMs) => urgencyOf(loudAlerts(feed, nowMs), feed, nowMs))
  const known = new Map(feed.open.map((alert) => [alert.id, alert]))
  return { alerts: ids.split(' ').flatMap((id) => known.get(id) ?? []), tone }
}

const Left = ({ feed, alert }: { feed: AlertFeed; alert: Alert }) => {
  const isNow = useClock((nowMs) => alertLeftMs(feed, alert, nowMs) === 0)
  const isOver = useClock((nowMs) => isPast(alert, feed, nowMs))
  if (hasHappened(alert)) return alertEvent(alert)
  const ends = barWords[alert.kind] ?? 'ends'
  if (isOver)
    return (
      <>
        {ends.replace('is', 'was to be')} <RelativeTime ms={alert.deadline_ms} />
      </>
    )
  return isNow ? (
    `${ends} now`
  ) : (
    <>
      <span className="max-sm:sr-only">{ends} in </span>
      <Countdown deadlineMs={alert.deadline_ms} />
      {alert.end?.is_at_least && <span className="max-sm:sr-only"> at the earliest</span>}
    </>
  )
}

const barWords: Partial<Record<Alert['kind'], string>> = { eviction: 'is evicted', end: 'is deleted' }

/** What keeps the disk of a devbox whose time runs out. */
const Rescue = ({ alert }: { alert: Alert }) => {
  const { keepAlive, snapshot, isBusy } = useRescue()
  return (
    <>
      {alert.end?.cause === 'keep_alive' && (
        <>
          <span className="max-sm:hidden">
            <Button size="sm" icon={RefreshCw} busy={isBusy} onClick={() => keepAlive(alert.devbox_id)}>
              Keep alive
            </Button>
          </span>
          <span className="sm:hidden">
            <IconButton size="sm" icon={RefreshCw} label="Keep alive" onClick={() => keepAlive(alert.devbox_id)} />
          </span>
        </>
      )}
      <span className="max-sm:hidden">
        <Button size="sm" icon={Camera} onClick={() => snapshot(alert.devbox_id)}>
          Snapshot
        </Button>
      </span>
    </>
  )
}

const Acknowledge = ({ alerts }: { alerts: readonly Alert[] }) => {
  const { mutate, isPending } = useMutation(alertMutations.acknowledge())
  if (alerts.length === 0) return null
  return (
    <Button
      size="sm"
      icon={Check}
      busy={isPending}
      onClick={() =>
        mutate(
          alerts.map(({ id }) => id),
          { onError: toast.failed('Nothing was acknowledged') },
        )
      }
    >
      {alerts.length === 1 ? 'Acknowledge' : `Acknowledge ${alerts.length}`}
    </Button>
  )
}

/** Warns that the messenger is away while its last message matters, or that another clock than this one counts. */
const Doubt = ({ feed, className }: { feed: AlertFeed; className: string }) => {
  // The page of evictions says the latter itself.
  const error = usePathname() === paths.evictions() ? null : clockError(feed)
  const doubt = useClock((nowMs) =>
    isAway(feed.health)
      ? `Nothing was heard for ${formatElapsedMs(nowMs - feed.health.sinceMs)}: this may have changed.`
      : error && `This computer’s clock is ${error}: time left is by the service’s.`,
  )
  return doubt && <span className={classes('text-muted', className)}>{doubt}</span>
}

const milestoneMinutes = [1, 2, 5, 10]

/** Tells screen readers how much time is left a few times, instead of every second. */
const Milestones = ({ feed, alert }: { feed: AlertFeed; alert: Alert }) => {
  const minutes = useClock((nowMs) => {
    if (hasHappened(alert)) return null
    const left = alertLeftMs(feed, alert, nowMs)
    return milestoneMinutes.find((each) => left > 0 && left <= each * 60_000) ?? null
  })
  return (
    <p role="status" className="sr-only">
      {minutes &&
        `Less than ${minutes === 1 ? 'a minute' : `${minutes} minutes`} until ${alert.kind === 'end' ? 'a devbox and its disk are deleted' : 'the next eviction'}`}
    </p>
  )
}
