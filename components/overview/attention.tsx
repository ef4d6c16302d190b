'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import Link from 'next/link'
import { type ReactNode, useEffect, useState } from 'react'
import { alertKindWords } from '#components/alerts/alert-state.tsx'
import { Countdown } from '#components/alerts/countdown.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { alertHref, alertLeftMs, alertName, loudAlerts, nextFirst, urgencyOf } from '#lib/browser/alerts/alert-feed.ts'
import { formatCount } from '#lib/browser/format.ts'
import { alertQueries } from '#lib/browser/queries/alerts.ts'
import { isOfTrial } from '#lib/contract/devboxes.ts'
import { type Alert, hasHappened } from '#lib/protocol/alerts.ts'
import { overviewQueries } from './queries.ts'
import { brokenSince, failedSince, type Visit } from './since-last-visit.ts'

/** Of each kind; the list it leads to has all. */
const shown = 3

/** What needs somebody now: alerts, and what failed since this browser's last visit. */
export const Attention = () => {
  const { data: feed } = useQuery(alertQueries.feed())
  const devboxes = useInfiniteQuery(overviewQueries.failed())
  const jobs = useInfiniteQuery(overviewQueries.jobs())
  const visit = useLastVisit()
  const ids = useClock(
    (nowMs) =>
      nextFirst(loudAlerts(feed, nowMs), feed, nowMs)
        .map(({ id }) => id)
        .join(' '),
    '',
  )
  const known = new Map(feed.open.map((alert) => [alert.id, alert]))
  const alerts = ids.split(' ').flatMap((id) => known.get(id) ?? [])
  // What an alert tells of stands here once.
  const told = new Set(
    feed.open.flatMap(({ kind, devbox_id, job }) => (kind === 'failure' ? devbox_id : (job?.id ?? []))),
  )
  const isUntold = ({ id }: { id: string }) => !told.has(id)
  const own = (devboxes.data?.pages[0]?.devboxes ?? []).filter((devbox) => !isOfTrial(devbox))
  const failed = failedSince(own, visit, devboxes.dataUpdatedAt).filter(isUntold)
  const broken = brokenSince(jobs.data?.pages[0]?.jobs ?? [], visit, jobs.dataUpdatedAt).filter(isUntold)
  const isRead = feed.health.state !== 'connecting' && devboxes.data !== undefined && jobs.data !== undefined
  const isFailed = devboxes.isLoadingError || jobs.isLoadingError
  const { webhook } = feed
  const isQuiet = alerts.length + failed.length + broken.length === 0 && !webhook
  return (
    <section aria-labelledby="attention" className="mb-8">
      <h2 id="attention" className="border-b border-line pb-2 text-lg font-medium">
        Needs attention
      </h2>
      {isQuiet && !isRead && <p className="py-2 text-muted">{isFailed ? 'Unknown' : 'Loading'}</p>}
      {isQuiet && isRead && (
        <p className="flex items-center gap-2 py-2 text-muted">
          <CircleCheck aria-hidden className="size-4 text-ok" />
          {visit === null ? 'All clear' : <>Nothing since your last visit {<RelativeTime ms={visit.ms} />}.</>}
        </p>
      )}
      <ul>
        {alerts.slice(0, shown).map((alert) => (
          <AlertItem key={alert.id} alert={alert} />
        ))}
        <More count={alerts.length} href={paths.evictions()} of="alerts" />
        {failed.slice(0, shown).map(({ id, name, create_time_ms, end_time_ms }) => (
          <Item key={id} href={paths.devbox(id)} name={name || id}>
            <Badge tone="danger">Devbox failed</Badge>
            <RelativeTime ms={end_time_ms ?? create_time_ms} className="w-20 text-right text-muted" />
          </Item>
        ))}
        <More
          count={failed.length}
          isAtLeast={devboxes.hasNextPage}
          href={paths.devboxes({ status: 'failure' })}
          of="failed devboxes"
        />
        {broken.slice(0, shown).map(({ id, name, state, create_time_ms }) => (
          <Item key={id} href={paths.benchmarkJob(id)} name={name}>
            <Badge tone={state === 'failed' ? 'danger' : 'attention'}>
              Job {state === 'timeout' ? 'timed out' : state}
            </Badge>
            <RelativeTime ms={create_time_ms} prefix="began" className="text-right text-muted" />
          </Item>
        ))}
        {webhook && (
          <Item href={`${paths.evictions()}#webhook`} name={webhook.host}>
            <Badge tone="attention">Webhook fails</Badge>
            <RelativeTime ms={webhook.since_ms} className="w-20 text-right text-muted" />
          </Item>
        )}
        <More count={broken.length} href={paths.benchmarkJobs()} of="failed jobs" />
      </ul>
    </section>
  )
}

const AlertItem = ({ alert }: { alert: Alert }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const tone = useClock((nowMs) => urgencyOf([alert], feed, nowMs), 'neutral')
  const isAhead = useClock((nowMs) => !hasHappened(alert) && alertLeftMs(feed, alert, nowMs) > 0, true)
  return (
    <Item href={alertHref(alert)} name={alertName(alert)}>
      <Badge tone={tone}>
        {alertKindWords[alert.kind]}
        {alert.state !== 'new' && ', acknowledged'}
      </Badge>
      <span className="w-20 text-right">
        {isAhead ? (
          <Countdown deadlineMs={alert.deadline_ms} />
        ) : (
          <RelativeTime ms={alert.deadline_ms} className="text-muted" />
        )}
      </span>
    </Item>
  )
}

const Item = ({ href, name, children }: { href: string; name: string; children: ReactNode }) => (
  <li className="relative flex h-9 items-center gap-3 border-b border-line px-1 hover:bg-surface-1">
    <Link
      href={href}
      prefetch={false}
      className="min-w-0 flex-1 truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus"
    >
      <VisibleText max={80}>{name}</VisibleText>
    </Link>
    {children}
  </li>
)

interface MoreProps {
  count: number
  isAtLeast?: boolean
  href: string
  of: string
}

const More = ({ count, isAtLeast = false, href, of }: MoreProps) =>
  count > shown && (
    <li className="py-1 text-sm">
      <TextLink href={href} prefetch={false}>
        {shown} of {isAtLeast && 'at least '}
        {formatCount(count)} {of} shown
      </TextLink>
    </li>
  )

const key = 'devdeck.last-visit'
/** A reload soon after is the same visit. */
const sameVisitMs = 10 * 60_000

/** When this browser looked at the overview before this visit; null on the first one. */
const useLastVisit = (): Visit | null => {
  const [visit, setVisit] = useState<Visit | null>(null)
  useEffect(() => {
    try {
      const { ms, beforeMs } = JSON.parse(localStorage.getItem(key) ?? '{}') as { ms?: number; beforeMs?: number }
      const isSame = ms !== undefined && Date.now() - ms < sameVisitMs
      const before = isSame ? beforeMs : ms
      if (before !== undefined) setVisit({ ms: before })
      localStorage.setItem(key, JSON.stringify({ ms: Date.now(), beforeMs: before }))
    } catch {
      // Without storage every visit is the first.
    }
  }, [])
  return visit
}
