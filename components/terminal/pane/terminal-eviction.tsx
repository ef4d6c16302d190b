'use client'
import { useQuery } from '@tanstack/react-query'
import { Timer } from 'lucide-react'
import { Countdown } from '#components/alerts/countdown.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { currentEvictions, remainingMs } from '#lib/browser/live/eviction-feed.ts'
import { evictionQueries } from '#lib/browser/queries/evictions.ts'

export const TerminalEviction = ({ devboxId }: { devboxId: string }) => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const isComing = useClock((nowMs) => currentEvictions(feed, nowMs).some(({ devbox_id }) => devbox_id === devboxId))
  const eviction = isComing ? feed.pending.find(({ devbox_id }) => devbox_id === devboxId) : undefined
  const isNow = useClock((nowMs) => eviction !== undefined && remainingMs(feed, eviction, nowMs) === 0)
  if (!eviction) return null
  return (
    <p className="flex items-center gap-2 border-t border-attention-line bg-attention-bg px-3 py-0.5 text-sm">
      <Timer aria-hidden className="size-3.5 shrink-0 text-attention" />
      <span className="min-w-0">
        {isNow ? (
          'Being evicted now: '
        ) : (
          <>
            Eviction in <Countdown deadlineMs={eviction.eviction_deadline_ms} />:{' '}
          </>
        )}
        <span className="text-muted">the devbox is suspended, its disk stays, what runs in this shell ends.</span>
      </span>
    </p>
  )
}
