'use client'
import { useQuery } from '@tanstack/react-query'
import { Timer } from 'lucide-react'
import { Badge } from '#components/ui/badge.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { urgencyOfTime } from '#lib/browser/alerts/alert-feed.ts'
import { currentEvictions, remainingMs } from '#lib/browser/live/eviction-feed.ts'
import { evictionQueries } from '#lib/browser/queries/evictions.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { Countdown } from './countdown.tsx'

/** Nothing once the eviction is over. `brief`: on narrow screens the icon and the time speak for themselves. */
export const EvictionBadge = ({ eviction, brief }: { eviction: Eviction; brief?: boolean }) => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const when = useClock((nowMs) => {
    if (!currentEvictions(feed, nowMs).includes(eviction)) return 'over'
    return remainingMs(feed, eviction, nowMs) > 0 ? 'ahead' : 'now'
    // The server knows of no evictions, but the stream may have told of one before this part of the page was taken over.
  }, 'over')
  const isLastCall = useClock((nowMs) => urgencyOfTime(remainingMs(feed, eviction, nowMs), false) === 'danger', false)
  if (when === 'over') return null
  return (
    <Badge
      tone={isLastCall ? 'danger' : 'attention'}
      icon={Timer}
      title="At the deadline it is suspended: its disk stays, its processes end"
    >
      {when === 'now' ? (
        'Evicting now'
      ) : (
        <>
          <span className={brief ? 'max-lg:sr-only' : undefined}>Evicted in </span>
          <Countdown deadlineMs={eviction.eviction_deadline_ms} />
        </>
      )}
    </Badge>
  )
}
