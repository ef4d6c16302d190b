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
import { alertQueries } from './queries.ts'

/** Countdown to a pending eviction. `brief` hides the label on narrow screens. */
export const EvictionBadge = ({ eviction, brief }: { eviction: Alert; brief?: boolean }) => {
  // The server knows no evictions, so the first render shows none.
  const phase = useClock((nowMs) => {
    if (isOverdue(eviction, nowMs)) return 'over'
    return timeLeftMs(eviction.deadline_ms, nowMs) > 0 ? 'ahead' : 'now'
  }, 'over')
  const isUrgent = useClock(
    (nowMs) => urgencyOfTime(timeLeftMs(eviction.deadline_ms, nowMs), false) === 'danger',
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

/** Suspend commands can delay the suspension by up to this long. */
const maxDelayMs = 60_000
const clockSlackMs = 1_000

const startsSuspension = (steps: Devbox['state_transitions'], index: number): boolean =>
  steps[index]?.status === 'suspending' ||
  (steps[index]?.status === 'suspended' && steps[index - 1]?.status !== 'suspending')

export const evictionAtStep = (
  evictions: readonly Alert[],
  steps: Devbox['state_transitions'],
  index: number,
): Alert | undefined =>
  evictions.find(({ kind, state, deadline_ms }) => {
    if (kind !== 'eviction' || state !== 'ended') return false
    // Only the first suspension after a deadline is the eviction; a person may suspend the devbox again soon after.
    const first = steps.findIndex(
      ({ transition_time_ms: timeMs }, i) =>
        timeMs !== undefined &&
        timeMs >= deadline_ms - clockSlackMs &&
        timeMs <= deadline_ms + maxDelayMs &&
        startsSuspension(steps, i),
    )
    return first !== -1 && first === index
  })

/** The eviction that suspended a devbox, if it is suspended now. */
export const currentSuspensionCause = (
  evictions: readonly Alert[],
  { status, state_transitions: steps }: Pick<Devbox, 'status' | 'state_transitions'>,
): Alert | undefined => {
  if (status !== 'suspended' && status !== 'suspending') return undefined
  const last = steps.length - 1
  return (
    evictionAtStep(evictions, steps, last) ??
    (status === 'suspended' ? evictionAtStep(evictions, steps, last - 1) : undefined)
  )
}
