'use client'
import { useQuery } from '@tanstack/react-query'
import { Timer } from 'lucide-react'
import { Badge } from '#components/ui/badge.tsx'
import { currentEvictions, remainingMs } from '#lib/console/eviction-stream.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { Countdown } from './countdown.tsx'
import { useClock } from './use-clock.ts'

/** Nothing once the eviction is over. */
export const EvictionBadge = ({ eviction }: { eviction: Eviction }) => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const when = useClock((nowMs) =>
    !currentEvictions(feed, nowMs).includes(eviction)
      ? 'over'
      : remainingMs(feed, eviction, nowMs) > 0
        ? 'ahead'
        : 'now',
  )
  if (when === 'over') return null
  return (
    <Badge tone="attention" icon={Timer} title="At the deadline it is suspended: its disk stays, its processes end">
      {when === 'now' ? (
        'Evicting now'
      ) : (
        <>
          Evicted in <Countdown eviction={eviction} />
        </>
      )}
    </Badge>
  )
}
