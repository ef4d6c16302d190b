import { CircleCheck, CirclePause, CircleX, Hourglass, LoaderCircle, Power } from 'lucide-react'
import { StateBadge, type StateLook } from '#components/ui/badge.tsx'
import type { DevboxStatus } from '#lib/contract/devboxes.ts'

/** `past`: the devbox has left this state, so no spinner. */
export const DevboxStatusBadge = ({ status, past }: { status: string; past?: boolean }) => (
  <StateBadge looks={looks} state={status} past={past} />
)

const looks: Record<DevboxStatus, StateLook> = {
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
