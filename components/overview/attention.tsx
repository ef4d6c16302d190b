'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { alertName, timeLeftMs, urgencyOf } from '#components/alerts/alert-feed.ts'
import { Countdown } from '#components/alerts/countdown.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { useAudibleAlerts } from '#components/alerts/use-audible-alerts.ts'
import { Badge } from '#components/ui/badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { NameText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount } from '#lib/browser/format.ts'
import { toServiceTime } from '#lib/client/clock.ts'
import { isOfTrial } from '#lib/contract/devboxes.ts'
import { alertKindLabels } from '#lib/protocol/alert-labels.ts'
import { type Alert, hasHappened } from '#lib/protocol/alerts.ts'
import { overviewQueries } from './queries.ts'

const maxRows = 3

const receiversPath = `${paths.evictions()}#receivers`

const dayMs = 24 * 3_600_000

/** Open alerts, and what failed within a day. */
export const Attention = () => {
  const { data: feed } = useQuery(alertQueries.feed())
  const devboxes = useInfiniteQuery(overviewQueries.failed())
  const jobs = useInfiniteQuery(overviewQueries.jobs())
  const alerts = useAudibleAlerts()
  const alerted = new Set(
    feed.open.flatMap(({ kind, devbox_id, job }) => (kind === 'failure' ? devbox_id : (job?.id ?? []))),
  )
  const isNotAlerted = ({ id }: { id: string }) => !alerted.has(id)
  // Measured from the fetch, so that the server and the browser render the same.
  const failed = (devboxes.data?.pages[0]?.devboxes ?? []).filter(
    (devbox) =>
      devbox.status === 'failure' &&
      !isOfTrial(devbox) &&
      isNotAlerted(devbox) &&
      (devbox.end_time_ms ?? devbox.create_time_ms) >= toServiceTime(devboxes.dataUpdatedAt) - dayMs,
  )
  const broken = (jobs.data?.pages[0]?.jobs ?? []).filter(
    (job) =>
      (job.state === 'failed' || job.state === 'timeout') &&
      isNotAlerted(job) &&
      (job.create_time_ms ?? 0) >= toServiceTime(jobs.dataUpdatedAt) - dayMs,
  )
  const isLoaded = feed.health.state !== 'connecting' && devboxes.data !== undefined && jobs.data !== undefined
  const hasError = devboxes.isLoadingError || jobs.isLoadingError
  const { failingReceivers } = feed
  const isQuiet = alerts.length + failed.length + broken.length + failingReceivers.length === 0
  return (
    <section aria-labelledby="attention" className="mb-8">
      <h2 id="attention" className="border-b border-line pb-2 text-lg font-medium">
        Needs attention
      </h2>
      {isQuiet && !isLoaded && <p className="py-2 text-muted">{hasError ? 'Unknown' : 'Loading'}</p>}
      {isQuiet && isLoaded && (
        <p className="flex items-center gap-2 py-2 text-muted">
          <CircleCheck aria-hidden className="size-4 text-ok" />
          All clear
        </p>
      )}
      <ul>
        {alerts.slice(0, maxRows).map((alert) => (
          <AlertItem key={alert.id} alert={alert} />
        ))}
        <More count={alerts.length} href={paths.evictions()} of="alerts" />
        {failed.slice(0, maxRows).map(({ id, name, create_time_ms, end_time_ms }) => (
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
        {broken.slice(0, maxRows).map(({ id, name, state, create_time_ms }) => (
          <Item key={id} href={paths.benchmarkJob(id)} name={name}>
            <Badge tone={state === 'failed' ? 'danger' : 'attention'}>
              Job {state === 'timeout' ? 'timed out' : state}
            </Badge>
            <RelativeTime ms={create_time_ms} prefix="started" className="text-right text-muted" />
          </Item>
        ))}
        <More count={broken.length} href={paths.benchmarkJobs()} of="failed jobs" />
        {failingReceivers.slice(0, maxRows).map(({ id, name, since_ms }) => (
          <Item key={id} href={receiversPath} name={name}>
            <Badge tone="attention">Receiver failing</Badge>
            <RelativeTime ms={since_ms} className="w-20 text-right text-muted" />
          </Item>
        ))}
        <More count={failingReceivers.length} href={receiversPath} of="failing receivers" />
      </ul>
    </section>
  )
}

const AlertItem = ({ alert }: { alert: Alert }) => {
  const tone = useClock((nowMs) => urgencyOf([alert], nowMs), 'neutral')
  const isAhead = useClock((nowMs) => !hasHappened(alert) && timeLeftMs(alert.deadline_ms, nowMs) > 0, true)
  return (
    <Item href={paths.alert(alert.id)} name={alertName(alert)}>
      <Badge tone={tone}>
        {alertKindLabels[alert.kind]}
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

export const Item = ({
  href,
  name,
  children,
}: {
  href: string
  name: string | null | undefined
  children: ReactNode
}) => (
  <li className="relative flex h-9 items-center gap-3 border-b border-line px-1 hover:bg-surface-1">
    <Link
      href={href}
      prefetch={false}
      className="min-w-0 flex-1 truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus"
    >
      <NameText>{name}</NameText>
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
  count > maxRows && (
    <li className="py-1 text-sm">
      <TextLink href={href} prefetch={false}>
        {maxRows} of {isAtLeast && 'at least '}
        {formatCount(count)} {of} shown
      </TextLink>
    </li>
  )
