import type { LucideIcon as Icon } from 'lucide-react'
import { CircleCheck, CircleHelp, CirclePause, CircleX, Hourglass, LoaderCircle, Power } from 'lucide-react'
import { Badge, type Tone } from '#components/ui/badge.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { DevboxStatus } from '#lib/contract/devboxes.ts'

/** `past`: a state the devbox has left, so nothing is under way in it. */
export const DevboxStatusBadge = ({ status, past }: { status: string; past?: boolean }) => {
  const look = Object.hasOwn(looks, status) ? looks[status as DevboxStatus] : undefined
  return (
    <Badge tone={look?.tone ?? 'neutral'} icon={look?.icon ?? CircleHelp} busy={!past && look?.icon === LoaderCircle}>
      {look?.word ?? <VisibleText max={40}>{status || 'Unknown'}</VisibleText>}
    </Badge>
  )
}

const looks: Record<DevboxStatus, { tone: Tone; icon: Icon; word: string }> = {
  scheduled: { tone: 'neutral', icon: Hourglass, word: 'Scheduled' },
  queued: { tone: 'neutral', icon: Hourglass, word: 'Queued' },
  provisioning: { tone: 'progress', icon: LoaderCircle, word: 'Provisioning' },
  initializing: { tone: 'progress', icon: LoaderCircle, word: 'Initializing' },
  running: { tone: 'ok', icon: CircleCheck, word: 'Running' },
  suspending: { tone: 'progress', icon: LoaderCircle, word: 'Suspending' },
  suspended: { tone: 'neutral', icon: CirclePause, word: 'Suspended' },
  resuming: { tone: 'progress', icon: LoaderCircle, word: 'Resuming' },
  failure: { tone: 'danger', icon: CircleX, word: 'Failed' },
  shutdown: { tone: 'neutral', icon: Power, word: 'Shut down' },
}

export const devboxStatusWords = Object.fromEntries(
  Object.entries(looks).map(([status, { word }]) => [status, word]),
) as Record<DevboxStatus, string>
