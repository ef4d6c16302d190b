'use client'
import { useQuery } from '@tanstack/react-query'
import { CircleSlash, Hourglass, LoaderCircle, Radio, TriangleAlert } from 'lucide-react'
import { Badge, type Tone } from '#components/ui/badge.tsx'
import type { Icon } from '#components/ui/icon.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { formatElapsedMs } from '#lib/console/frame/format.ts'
import { type FeedHealth, feedHealth } from '#lib/console/live/eviction-stream.ts'
import { evictionQueries } from '#lib/console/queries/evictions.ts'

/** Whether the eviction stream can be trusted right now, for the frame. */
export const StreamStatus = () => {
  const { data: feed } = useQuery(evictionQueries.feed())
  const state = useClock((nowMs) => feedHealth(feed, nowMs).state)
  const since = useClock((nowMs) => {
    const health = feedHealth(feed, nowMs)
    return 'sinceMs' in health ? formatElapsedMs(nowMs - health.sinceMs) : null
  })
  const { tone, icon, word, meaning, busy } = looks[state]
  return (
    <span className="inline-flex items-center gap-1.5">
      <span role="status">
        <Badge tone={tone} icon={icon} busy={busy} title={meaning}>
          {word}
        </Badge>
      </span>
      {since && <span className="tabular hidden text-sm text-muted lg:inline">for {since}</span>}
    </span>
  )
}

interface Look {
  tone: Tone
  icon: Icon
  word: string
  meaning: string
  busy?: boolean
}

const looks: Record<FeedHealth['state'], Look> = {
  connecting: { tone: 'neutral', icon: Hourglass, word: 'Connecting', meaning: 'Opening the eviction stream' },
  live: { tone: 'ok', icon: Radio, word: 'Live', meaning: 'Evictions are shown here as they are scheduled' },
  reconnecting: {
    tone: 'attention',
    icon: LoaderCircle,
    word: 'Reconnecting',
    meaning: 'The eviction stream is down; evictions scheduled now are shown once it is back',
    busy: true,
  },
  stale: {
    tone: 'attention',
    icon: TriangleAlert,
    word: 'Stale',
    meaning: 'The eviction stream is silent; what is shown may be old',
  },
  refused: {
    tone: 'danger',
    icon: CircleSlash,
    word: 'Refused',
    meaning: 'The service refuses the eviction stream for this key; evictions are not shown',
  },
}
