'use client'
import { useQuery } from '@tanstack/react-query'
import { ArrowRight, Timer } from 'lucide-react'
import Link from 'next/link'
import { Banner } from '#components/ui/banner.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { isAway } from '#components/ui/live-badge.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { formatElapsedMs } from '#lib/console/frame/format.ts'
import { currentEvictions, type EvictionFeed, remainingMs } from '#lib/console/live/eviction-feed.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { Countdown } from './countdown.tsx'

/** More of them are counted, not named. */
const maxNamed = 3

/** What is about to be evicted, on every page; nothing while nothing is. */
export const EvictionBanner = () => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const count = useClock((nowMs) => currentEvictions(feed, nowMs).length)
  if (count === 0) return null
  // Counted from the end: what lies past its deadline comes first.
  const evictions = feed.pending.slice(feed.pending.length - count)
  const [first] = evictions
  if (!first) return null
  return (
    <section aria-label="Pending evictions">
      <Banner
        tone="attention"
        icon={Timer}
        className="border-x-0 border-t-0 md:px-6"
        title={
          evictions.length === 1 ? (
            <One eviction={first} feed={feed} />
          ) : (
            <>
              {evictions.length} devboxes will be evicted, the first in <Countdown eviction={first} />
            </>
          )
        }
        actions={
          evictions.length === 1 ? (
            <ButtonLink href={paths.devbox(first.devbox_id)} size="sm" icon={ArrowRight}>
              Open devbox
            </ButtonLink>
          ) : undefined
        }
      >
        {evictions.length > 1 && <Several evictions={evictions} />}
        <p>
          {evictions.length === 1
            ? 'It will be suspended: its disk stays, its'
            : 'They will be suspended: their disks stay, their'}{' '}
          processes end. <Doubt feed={feed} />
        </p>
      </Banner>
      <Milestones feed={feed} eviction={first} />
    </section>
  )
}

const One = ({ eviction, feed }: { eviction: Eviction; feed: EvictionFeed }) => {
  const isNow = useClock((nowMs) => remainingMs(feed, eviction, nowMs) === 0)
  return (
    <span className="inline-flex flex-wrap items-center gap-x-1.5">
      <DevboxName id={eviction.devbox_id} />
      <Link
        href={paths.devbox(eviction.devbox_id)}
        title={eviction.devbox_id}
        className="font-mono text-sm font-normal text-accent hover:underline"
      >
        {shortenMiddle(eviction.devbox_id, 18)}
      </Link>
      {isNow ? (
        <span>is being evicted now</span>
      ) : (
        <span>
          will be evicted in <Countdown eviction={eviction} />
        </span>
      )}
    </span>
  )
}

const Several = ({ evictions }: { evictions: readonly Eviction[] }) => (
  <ul className="flex flex-wrap gap-x-4 gap-y-1 text-text">
    {evictions.slice(0, maxNamed).map((eviction) => (
      <li key={eviction.devbox_id} className="inline-flex min-w-0 items-center gap-1.5">
        <Link
          href={paths.devbox(eviction.devbox_id)}
          className="inline-flex min-h-6 min-w-0 items-center text-accent hover:underline"
        >
          <DevboxName id={eviction.devbox_id} orId />
        </Link>
        <Countdown eviction={eviction} />
      </li>
    ))}
    {evictions.length > maxNamed && (
      <li>
        <Link
          href={paths.devboxes({ status: 'running' })}
          className="inline-flex min-h-6 items-center text-accent hover:underline"
        >
          and {evictions.length - maxNamed} more
        </Link>
      </li>
    )}
  </ul>
)

/** The devbox's name once it is known; the id stands in for it, or nothing does. */
const DevboxName = ({ id, orId }: { id: string; orId?: boolean }) => {
  const { data: name } = useQuery(devboxQueries.name(id))
  if (name) return <VisibleText max={60}>{name}</VisibleText>
  return orId ? <span className="font-mono text-sm">{id}</span> : <span>Devbox</span>
}

/** Warns that the messenger is away while its last message matters. */
const Doubt = ({ feed }: { feed: EvictionFeed }) => {
  const text = useClock((nowMs) =>
    isAway(feed.health)
      ? `Nothing was heard for ${formatElapsedMs(nowMs - feed.health.sinceMs)}: this may have changed.`
      : null,
  )
  return text && <span className="text-attention">{text}</span>
}

const milestoneMinutes = [1, 2, 5, 10]

/** Tells screen readers how much time is left a few times, instead of every second. */
const Milestones = ({ feed, eviction }: { feed: EvictionFeed; eviction: Eviction }) => {
  const minutes = useClock((nowMs) => {
    const left = remainingMs(feed, eviction, nowMs)
    return milestoneMinutes.find((each) => left > 0 && left <= each * 60_000) ?? null
  })
  return (
    <p role="status" className="sr-only">
      {minutes && `Less than ${minutes === 1 ? 'a minute' : `${minutes} minutes`} until the next eviction`}
    </p>
  )
}
