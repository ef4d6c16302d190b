'use client'
import type { LucideIcon as Icon } from 'lucide-react'
import { CircleSlash, Hourglass, LoaderCircle, Radio, RefreshCw, TriangleAlert } from 'lucide-react'
import { Badge, type Tone } from './badge.tsx'
import type { Problem } from './problem.ts'
import { RelativeTime } from './relative-time.tsx'
import { useWait } from './use-shown-error.ts'

type State = 'connecting' | 'live' | 'polled' | 'late' | 'lost' | 'refused'

export const LiveBadge = ({ state, what }: { state: State; what: string }) => {
  const { tone, icon, word, meaning, busy } = looks[state]
  return (
    <Badge tone={tone} icon={icon} busy={busy} title={meaning(what)}>
      {word}
    </Badge>
  )
}

interface Health {
  state: State
  sinceMs: number
  error?: Problem
}

export const isAway = ({ state }: Pick<Health, 'state'>): boolean => state === 'late' || state === 'lost'

export const LiveState = ({ health, what }: { health: Health; what: string }) => {
  const wait = useWait(health.error)
  return (
    <>
      <LiveBadge state={health.state} what={what} />
      {sinceWords[health.state] && (
        <>
          {' '}
          {sinceWords[health.state]} <RelativeTime ms={health.sinceMs} />.
        </>
      )}
      {health.state === 'lost' && wait && (
        <>
          {' '}
          The service is limiting requests. Retrying in <span className="tabular">{wait}</span>.
        </>
      )}
    </>
  )
}

const sinceWords: Partial<Record<State, string>> = { polled: 'Last polled', late: 'Last heartbeat', lost: 'Lost' }

interface Look {
  tone: Tone
  icon: Icon
  word: string
  meaning: (what: string) => string
  busy?: boolean
}

const looks: Record<State, Look> = {
  connecting: { tone: 'neutral', icon: Hourglass, word: 'Connecting', meaning: (what) => `Opening ${what}` },
  live: {
    tone: 'ok',
    icon: Radio,
    word: 'Live',
    meaning: (what) => `${what.charAt(0).toUpperCase()}${what.slice(1)} updates live`,
  },
  polled: {
    tone: 'attention',
    icon: RefreshCw,
    word: 'Polled',
    meaning: (what) => `No live connection; polling ${what} every few seconds`,
  },
  late: {
    tone: 'attention',
    icon: TriangleAlert,
    word: 'Late',
    meaning: () => 'No heartbeat from the service; this data may be out of date',
  },
  lost: {
    tone: 'attention',
    icon: LoaderCircle,
    word: 'Reconnecting',
    meaning: (what) => `Lost the connection to ${what}; missed updates appear once it is back`,
    busy: true,
  },
  refused: {
    tone: 'danger',
    icon: CircleSlash,
    word: 'Refused',
    meaning: (what) => `This API key has no access to ${what}`,
  },
}
