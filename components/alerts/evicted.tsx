'use client'
import { useQuery } from '@tanstack/react-query'
import { PauseCircle } from 'lucide-react'
import { Badge } from '#components/ui/badge.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { formatTimeOfDay, formatZone } from '#components/ui/time-text.ts'
import { evictionBehind, evictionOfStep } from '#lib/browser/alerts/evicted.ts'
import { isoTime } from '#lib/browser/format.ts'
import { alertQueries } from '#lib/browser/queries/alerts.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'

const useEvictions = (devboxId: string) => useQuery(alertQueries.ofDevbox(devboxId)).data ?? []

/** Beside the state of a devbox that is suspended because it was evicted. */
export const EvictedBadge = ({ devbox }: { devbox: Devbox }) => {
  const eviction = evictionBehind(useEvictions(devbox.id), devbox)
  if (!eviction) return null
  return (
    <Badge tone="attention" icon={PauseCircle} title="The service suspended it at the deadline of an eviction">
      Evicted <RelativeTime ms={eviction.deadline_ms} />
    </Badge>
  )
}

export const EvictedBanner = ({ devbox }: { devbox: Devbox }) => {
  const eviction = evictionBehind(useEvictions(devbox.id), devbox)
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
      The service suspended it at its deadline: what ran in it has ended, its disk stays. Resume it to go on.
    </Banner>
  )
}

/** In the history of a devbox, at the step that an eviction began. */
export const EvictedStep = ({
  devboxId,
  steps,
  index,
}: {
  devboxId: string
  steps: Devbox['state_transitions']
  index: number
}) => {
  const eviction = evictionOfStep(useEvictions(devboxId), steps, index)
  if (!eviction) return null
  return (
    <p className="mt-1 text-attention">
      Evicted, at the deadline <time dateTime={isoTime(eviction.deadline_ms)}>{timeOf(eviction.deadline_ms)}</time>
    </p>
  )
}

const timeOf = (ms: number) => `${formatTimeOfDay(ms).slice(0, 8)} ${formatZone(ms)}`
