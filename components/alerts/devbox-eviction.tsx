'use client'
import { useQuery } from '@tanstack/react-query'
import { PauseCircle, Timer } from 'lucide-react'
import { Badge } from '#components/ui/badge.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { formatTimeOfDay, formatZone } from '#components/ui/time-text.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { isoTime } from '#lib/browser/format.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { isOverdue, timeLeftMs, urgencyOfTime } from './alert-feed.ts'
import { Countdown } from './countdown.tsx'
import { currentSuspensionCause, evictionAtStep } from './past-evictions.ts'
import { alertQueries } from './queries.ts'

/** Countdown to a pending eviction. `brief` hides the label on narrow screens. */
export const EvictionBadge = ({ eviction, brief }: { eviction: Alert; brief?: boolean }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  // The server knows no evictions, so the first render shows none.
  const phase = useClock((nowMs) => {
    if (isOverdue(eviction, feed, nowMs)) return 'over'
    return timeLeftMs(feed, eviction.deadline_ms, nowMs) > 0 ? 'ahead' : 'now'
  }, 'over')
  const isUrgent = useClock(
    (nowMs) => urgencyOfTime(timeLeftMs(feed, eviction.deadline_ms, nowMs), false) === 'danger',
    false,
  )
  if (phase === 'over') return null
  return (
    <Badge
      tone={isUrgent ? 'danger' : 'attention'}
      icon={Timer}
      title="The devbox will be suspended at the deadline: its processes end, its disk is kept"
    >
      {phase === 'now' ? (
        'Evicting now'
      ) : (
        <>
          <span className={brief ? 'max-lg:sr-only' : undefined}>Evicted in </span>
          <Countdown deadlineMs={eviction.deadline_ms} />
        </>
      )}
    </Badge>
  )
}

const useEvictions = (devboxId: string) => useQuery(alertQueries.ofDevbox(devboxId)).data ?? []

/** Marks a devbox that is suspended because it was evicted. */
export const EvictedBadge = ({ devbox }: { devbox: Devbox }) => {
  const eviction = currentSuspensionCause(useEvictions(devbox.id), devbox)
  if (!eviction) return null
  return (
    <Badge tone="attention" icon={PauseCircle} title="The service suspended it at an eviction deadline">
      Evicted <RelativeTime ms={eviction.deadline_ms} />
    </Badge>
  )
}

export const EvictedBanner = ({ devbox }: { devbox: Devbox }) => {
  const eviction = currentSuspensionCause(useEvictions(devbox.id), devbox)
  if (!eviction) return null
  return (
    <Banner
      tone="attention"
      icon={PauseCircle}
      title={
        <>
          This devbox was evicted <RelativeTime ms={eviction.deadline_ms} />
        </>
      }
    >
      The service suspended it at the deadline. Its processes ended; its disk was kept. Resume it to continue.
    </Banner>
  )
}

interface EvictedStepProps {
  devboxId: string
  steps: Devbox['state_transitions']
  index: number
}

/** Marks the step of a devbox's state history that an eviction caused. */
export const EvictedStep = ({ devboxId, steps, index }: EvictedStepProps) => {
  const eviction = evictionAtStep(useEvictions(devboxId), steps, index)
  if (!eviction) return null
  const { deadline_ms } = eviction
  return (
    <p className="mt-1 text-attention">
      Evicted at the deadline,{' '}
      <time
        dateTime={isoTime(deadline_ms)}
      >{`${formatTimeOfDay(deadline_ms).slice(0, 8)} ${formatZone(deadline_ms)}`}</time>
    </p>
  )
}
