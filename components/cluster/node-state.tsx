import { CircleCheck, CircleSlash, LoaderCircle, Pause, Timer, TriangleAlert, Unplug } from 'lucide-react'
import { Countdown } from '#components/alerts/countdown.tsx'
import { Badge, StateBadge, type StateLook } from '#components/ui/badge.tsx'
import type { ClusterNode } from '#lib/contract/cluster.ts'

/** The most important state: a node that is down is no longer draining, and a drained one needs no countdown. */
const nodeState = ({ state, availability, drain_status, problem }: ClusterNode): string => {
  if (state !== 'ready') return state
  if (drain_status != null) return drain_status
  if (availability !== 'active') return availability === 'drain' ? 'drained' : availability
  return problem ? 'problem' : 'ready'
}

/** New devboxes may be placed on it. */
export const isUsable = (node: ClusterNode): boolean => nodeState(node) === 'ready'

export const NodeStateBadge = ({ node }: { node: ClusterNode }) => {
  const state = nodeState(node)
  if (state === 'waiting' && node.drain_deadline_ms != null)
    return (
      <Badge tone="attention" icon={Timer} title="Its devboxes are suspended at the deadline; it gets no new ones">
        Drains in <Countdown deadlineMs={node.drain_deadline_ms} />
      </Badge>
    )
  return <StateBadge looks={looks} state={state} title={node.problem ?? undefined} />
}

const looks: Record<string, StateLook> = {
  ready: { tone: 'ok', icon: CircleCheck, word: 'Ready' },
  problem: { tone: 'attention', icon: TriangleAlert, word: 'Unreachable' },
  waiting: { tone: 'attention', icon: Timer, word: 'Draining' },
  suspending: { tone: 'progress', icon: LoaderCircle, word: 'Suspending' },
  drained: { tone: 'neutral', icon: CircleSlash, word: 'Drained' },
  pause: { tone: 'neutral', icon: Pause, word: 'Paused' },
  down: { tone: 'danger', icon: Unplug, word: 'Down' },
  disconnected: { tone: 'danger', icon: Unplug, word: 'Disconnected' },
  unknown: { tone: 'attention', icon: TriangleAlert, word: 'Unknown' },
}
