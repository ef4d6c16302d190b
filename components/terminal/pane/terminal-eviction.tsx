'use client'
import { useQuery } from '@tanstack/react-query'
import { Timer } from 'lucide-react'
import { evictionOf, isOverdue, timeLeftMs } from '#components/alerts/alert-feed.ts'
import { Countdown } from '#components/alerts/countdown.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { useClock } from '#components/ui/use-clock.ts'

export const TerminalEviction = ({ devboxId }: { devboxId: string }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const eviction = evictionOf(feed, devboxId)
  const isOver = useClock((nowMs) => eviction === undefined || isOverdue(eviction, feed, nowMs))
  const isNow = useClock((nowMs) => eviction !== undefined && timeLeftMs(feed, eviction.deadline_ms, nowMs) === 0)
  if (!eviction || isOver) return null
  return (
    <p className="flex items-center gap-2 border-t border-attention-line bg-attention-bg px-3 py-0.5 text-sm">
      <Timer aria-hidden className="size-3.5 shrink-0 text-attention" />
      <span className="min-w-0">
        {isNow ? (
          'Being evicted now: '
        ) : (
          <>
            Eviction in <Countdown deadlineMs={eviction.deadline_ms} />:{' '}
          </>
        )}
        <span className="text-muted">
          the devbox will be suspended. Its disk is kept; running programs are terminated.
        </span>
      </span>
    </p>
  )
}
