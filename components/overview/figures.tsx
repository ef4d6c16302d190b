'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { pendingEvictions, timeLeftMs } from '#components/alerts/alert-feed.ts'
import { Countdown } from '#components/alerts/countdown.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { devboxesPath } from '#components/devboxes/search-params.ts'
import { classes } from '#components/ui/classes.ts'
import { TextLink } from '#components/ui/text-link.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { isOfTrial } from '#lib/contract/devboxes.ts'
import { countDevboxes, type DevboxCounts, devboxesAt } from './devbox-counts.ts'
import { overviewQueries } from './queries.ts'

/** Totals of the account, excluding trial devboxes. */
export const Figures = () => {
  const { data: totals } = useQuery(overviewQueries.totals())
  const devboxes = useInfiniteQuery(overviewQueries.devboxes())
  const axons = useInfiniteQuery(overviewQueries.axons())
  const { data: feed } = useQuery(alertQueries.feed())
  const evictions = pendingEvictions(feed)
  const counts = totals?.counts
  const isAtLeast = totals?.countedNewest != null
  // The trend needs every record; counts alone don't say what they were an hour ago.
  const all = devboxes.hasNextPage || isAtLeast ? undefined : devboxes.data?.pages.flatMap((page) => page.devboxes)
  const hourAgo = useClock((nowMs) => Math.floor(nowMs / 60_000) * 60_000 - hourMs, 0)
  const own = all?.filter((devbox) => !isOfTrial(devbox))
  const before = own && hourAgo > 0 ? countDevboxes(devboxesAt(own, hourAgo)) : undefined
  const isLoaded = feed.health.state !== 'connecting' || evictions.length > 0
  // A past eviction stays pending until its outcome is known.
  const nextMs = useClock(
    (nowMs) => evictions.find((each) => timeLeftMs(feed, each.deadline_ms, nowMs) > 0)?.deadline_ms ?? null,
    null,
  )
  const trend = (count: keyof DevboxCounts) => counts && before && counts[count] - before[count]
  return (
    <>
      <dl className="grid grid-cols-2 border-t border-l border-line sm:grid-cols-3 xl:grid-cols-6">
        <Figure
          label="Devboxes running"
          value={counts?.running}
          isAtLeast={isAtLeast}
          trend={trend('running')}
          href={paths.devboxes({ status: 'running' })}
        />
        <Figure
          label="Devboxes in transition"
          value={counts?.moving}
          isAtLeast={isAtLeast}
          trend={trend('moving')}
          href={paths.devboxes()}
        />
        <Figure
          label="Devboxes suspended"
          value={counts?.suspended}
          isAtLeast={isAtLeast}
          trend={trend('suspended')}
          href={paths.devboxes({ status: 'suspended' })}
        />
        <Figure
          label="Devboxes failed"
          value={counts?.failed}
          isAtLeast={isAtLeast}
          trend={trend('failed')}
          href={paths.devboxes({ status: 'failure' })}
          tone="danger"
        />
        <Figure
          label={
            nextMs !== null ? (
              <>
                Evictions, next in <Countdown deadlineMs={nextMs} />
              </>
            ) : (
              'Evictions pending'
            )
          }
          value={isLoaded ? evictions.length : undefined}
          href={paths.evictions()}
          tone="attention"
        />
        <Figure
          label="Axons (including deleted)"
          value={axons.data?.pages[0]?.total_count ?? undefined}
          href={paths.axons()}
        />
      </dl>
      {totals && (isAtLeast || totals.trials > 0) && (
        <p className="mt-2 text-sm text-muted">
          {isAtLeast && <>Only the newest {formatCount(totals.countedNewest ?? 0)} devboxes are counted. </>}
          {totals.trials > 0 && (
            <TextLink href={devboxesPath({ trials: 'shown' })} prefetch={false}>
              {isAtLeast && 'At least '}
              {formatCountOf(totals.trials, 'trial devbox', 'trial devboxes')} not counted
            </TextLink>
          )}
        </p>
      )}
    </>
  )
}

const hourMs = 3_600_000

interface FigureProps {
  label: ReactNode
  /** Undefined while loading. */
  value: number | undefined
  isAtLeast?: boolean
  /** Change since an hour ago. */
  trend?: number | undefined
  href: string
  /** Applied to values above zero. */
  tone?: 'danger' | 'attention'
}

const Figure = ({ label, value, isAtLeast = false, trend, href, tone }: FigureProps) => (
  <div className="relative flex flex-col-reverse justify-end border-r border-b border-line px-4 py-3 has-[a:hover]:bg-surface-1">
    <dt className="text-sm text-muted">
      <Link
        href={href}
        className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus"
      >
        {label}
      </Link>
    </dt>
    <dd
      className={classes(
        'tabular text-2xl font-semibold tracking-tight',
        !value && 'text-muted',
        tone && value ? toneClasses[tone] : '',
      )}
    >
      {isAtLeast && value !== undefined && (
        <>
          <span aria-hidden>≥ </span>
          <span className="sr-only">At least </span>
        </>
      )}
      {value === undefined ? '–' : formatCount(value)}
      {!!trend && (
        <span className="ml-2 text-sm font-normal tracking-normal text-muted" title="Compared with an hour ago">
          {trend > 0 ? `+${formatCount(trend)}` : `−${formatCount(-trend)}`} in 1 h
        </span>
      )}
    </dd>
  </div>
)

const toneClasses = { danger: 'text-danger', attention: 'text-attention' }
