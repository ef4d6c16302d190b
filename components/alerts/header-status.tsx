'use client'
import { useQuery } from '@tanstack/react-query'
import { Webhook } from 'lucide-react'
import Link from 'next/link'
import { toneClasses } from '#components/ui/badge.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { isAway, LiveBadge } from '#components/ui/live-badge.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { formatElapsedMs } from '#lib/browser/format.ts'
import type { LiveHealth } from '#lib/browser/live/follow.ts'
import type { FailingReceiver } from '#lib/protocol/alerts.ts'
import { alertQueries } from './queries.ts'

export const streamState = ({ state, error }: LiveHealth) => (error?.code === 'forbidden' ? 'refused' : state)

export const StreamStatus = () => {
  const { data: feed } = useQuery(alertQueries.feed())
  const { sinceMs } = feed.health
  const away = useClock((nowMs) => (isAway(feed.health) ? formatElapsedMs(nowMs - sinceMs) : null))
  return (
    <span className="inline-flex items-center gap-1.5">
      <span className="hidden text-sm text-muted lg:inline">Eviction stream</span>
      <span role="status">
        <LiveBadge state={streamState(feed.health)} what="the eviction stream" />
      </span>
      {away && <span className="tabular hidden text-sm text-muted lg:inline">{`for ${away}`}</span>}
    </span>
  )
}

export const ReceiverBadge = ({ failing }: { failing: readonly FailingReceiver[] }) => (
  <Link
    href={`${paths.evictions()}#receivers`}
    prefetch={false}
    title={failing.map(({ name, answer }) => `Alerts aren't reaching ${name}: ${answer}`).join('\n')}
    className={classes('inline-flex h-7 items-center gap-1.5 rounded-full border px-2 text-sm', toneClasses.attention)}
  >
    <Webhook aria-hidden className="size-3.5" />
    <span className="max-lg:sr-only">
      {failing.length === 1 ? 'Receiver failing' : `${failing.length} receivers failing`}
    </span>
  </Link>
)

/** Shown on every page while requests reach the console but no live connection does. */
export const PollingBanner = () => (
  <Banner
    tone="attention"
    role="status"
    className="border-x-0 border-t-0 md:px-6"
    title="Live updates are unavailable. A proxy may be blocking the connection."
    actions={
      <ButtonLink size="sm" href={paths.settings()} prefetch={false}>
        Diagnose
      </ButtonLink>
    }
  >
    Evictions and alerts are polled every few seconds instead. Output, logs, events and terminals are paused.
  </Banner>
)
