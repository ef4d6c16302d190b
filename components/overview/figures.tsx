'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { Countdown } from '#components/evictions/countdown.tsx'
import { classes } from '#components/ui/classes.ts'
import { TextLink } from '#components/ui/text-link.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { devboxListPath } from '#lib/console/address/devbox-list-view.ts'
import { paths } from '#lib/console/address/paths.ts'
import { remainingMs } from '#lib/console/live/eviction-feed.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'
import { overviewQueries } from '#lib/console/queries/overview.ts'
import { isOfTrial } from '#lib/contract/devboxes.ts'
import { formatCount, formatCountOf } from '#lib/language/translate.ts'
import { countDevboxes, type DevboxCounts, devboxesAt } from './devbox-counts.ts'

/** The numbers of the account, devboxes of trials left out. They say what they were counted among. */
export const Figures = () => {
  const devboxes = useInfiniteQuery(overviewQueries.devboxes())
  const axons = useInfiniteQuery(overviewQueries.axons())
  const { data: evictions } = useQuery(evictionQueries.feed())
  const page = devboxes.data?.pages[0]
  const own = page?.devboxes.filter((devbox) => !isOfTrial(devbox))
  const counts = own && countDevboxes(own)
  const hourAgo = useClock((nowMs) => Math.floor(nowMs / 60_000) * 60_000 - hourMs, 0)
  const before = own && hourAgo > 0 ? countDevboxes(devboxesAt(own, hourAgo)) : undefined
  const ofTrials = page && own ? page.devboxes.length - own.length : 0
  const pending = evictions.pending.length
  // One whose deadline has passed is listed until it is known what became of it.
  const nextMs = useClock(
    (nowMs) => evictions.pending.find((each) => remainingMs(evictions, each, nowMs) > 0)?.eviction_deadline_ms ?? null,
    null,
  )
  const trend = (count: keyof DevboxCounts) => counts && before && counts[count] - before[count]
  return (
    <>
      <dl className="grid grid-cols-2 border-t border-l border-line sm:grid-cols-3 xl:grid-cols-6">
        <Figure
          label="Devboxes running"
          value={counts?.running}
          trend={trend('running')}
          href={paths.devboxes({ status: 'running' })}
        />
        <Figure
          label="Devboxes between states"
          value={counts?.moving}
          trend={trend('moving')}
          href={paths.devboxes()}
        />
        <Figure
          label="Devboxes suspended"
          value={counts?.suspended}
          trend={trend('suspended')}
          href={paths.devboxes({ status: 'suspended' })}
        />
        <Figure
          label="Devboxes failed"
          value={counts?.failed}
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
          value={pending}
          href={paths.evictions()}
          tone="attention"
        />
        <Figure
          label="Axons, deleted too"
          value={axons.data?.pages[0]?.total_count ?? undefined}
          href={paths.axons()}
        />
      </dl>
      {page && counts && (page.has_more || ofTrials > 0) && (
        <p className="mt-2 text-sm text-muted">
          {page.has_more && (
            <>
              States are counted among the newest {formatCount(page.devboxes.length)}
              {page.total_count == null
                ? ' devboxes; there are more.'
                : ` of ${formatCount(page.total_count)} devboxes.`}{' '}
            </>
          )}
          {ofTrials > 0 && (
            <TextLink href={devboxListPath({ trials: 'shown' })} prefetch={false}>
              {formatCountOf(ofTrials, 'devbox', 'devboxes')} of trials not counted
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
  /** Undefined while it is not known. */
  value: number | undefined
  /** How many more than an hour ago. */
  trend?: number | undefined
  href: string
  /** Worn only when there is something to see. */
  tone?: 'danger' | 'attention'
}

const Figure = ({ label, value, trend, href, tone }: FigureProps) => (
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
      {value === undefined ? '–' : formatCount(value)}
      {!!trend && (
        <span className="ml-2 text-sm font-normal tracking-normal text-muted" title="Against an hour ago">
          {trend > 0 ? `+${formatCount(trend)}` : `−${formatCount(-trend)}`} in 1 h
        </span>
      )}
    </dd>
  </div>
)

const toneClasses = { danger: 'text-danger', attention: 'text-attention' }
