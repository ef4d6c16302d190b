import { useInfiniteQuery } from '@tanstack/react-query'
import { Copy, ScrollText } from 'lucide-react'
import type { ReactNode } from 'react'
import { useCluster } from '#components/cluster/queries.ts'
import { snapshotQueries } from '#components/snapshots/queries.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Devbox, keepsDisk } from '#lib/contract/devboxes.ts'

interface EndingProps {
  devbox: Devbox
  onCopy: () => void
}

export const Ending = ({ devbox, onCopy }: EndingProps) => {
  const { id, status, failure_reason, shutdown_reason } = devbox
  if (status !== 'failure' && status !== 'shutdown') return null
  const hasFailed = status === 'failure'
  const isLost = hasFailed && failure_reason === 'node_lost'
  const { why, next } = hasFailed
    ? reasonOf(failures, failure_reason, 'Check its log.')
    : reasonOf(shutdowns, shutdown_reason, 'The disk is deleted. Snapshots and the log remain.')
  return (
    <Banner
      tone={hasFailed ? 'danger' : 'neutral'}
      title={hasFailed ? 'This devbox failed' : 'This devbox was shut down'}
    >
      <p>{why}</p>
      {isLost && keepsDisk(devbox) ? (
        <LostDisk devbox={devbox} />
      ) : keepsDisk(devbox) ? (
        <p>The disk is kept until you shut the devbox down. Resume it to continue.</p>
      ) : (
        <p>{next}</p>
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        <ButtonLink size="sm" icon={ScrollText} href={paths.devbox(id, 'log')}>
          View log
        </ButtonLink>
        <Button size="sm" icon={Copy} needs="devboxes.create" onClick={onCopy}>
          Duplicate devbox
        </Button>
      </div>
    </Banner>
  )
}

interface Reason {
  why: string
  next: string
}

const reasonOf = (
  reasons: Record<string, Reason>,
  reason: string | null | undefined,
  otherwise: string,
): { why: ReactNode; next: string } => {
  if (!reason) return { why: 'No reason was reported.', next: otherwise }
  const known = Object.hasOwn(reasons, reason) ? reasons[reason] : undefined
  return known ?? { why: <VisibleText max={300}>{reason}</VisibleText>, next: otherwise }
}

/** What a resume continues from while the node and its disk are unavailable: the newer of the last stop and the last snapshot. */
const LostDisk = ({ devbox: { id, node, state_transitions } }: { devbox: Devbox }) => {
  const cluster = useCluster()
  const snapshots = useInfiniteQuery(snapshotQueries.list({ devbox_id: id, limit: 1, include_total_count: false }))
  const snapshotMs = snapshots.data?.pages[0]?.snapshots[0]?.create_time_ms ?? 0
  const stoppedMs = lastStopMs(state_transitions) ?? 0
  const hostname = (
    <VisibleText max={60} className="whitespace-nowrap">
      {node?.hostname ?? 'the node'}
    </VisibleText>
  )
  if (!cluster?.registry)
    return (
      <p>
        The cluster has no registry, so its disk and snapshots are on {hostname} as well. Resume it once {hostname} is
        back.
      </p>
    )
  if (snapshotMs === 0 && stoppedMs === 0)
    return snapshots.isPending ? null : (
      <p>
        It was never suspended and has no snapshot, so it can't continue on another node. Resume it once {hostname} is
        back with its disk.
      </p>
    )
  return (
    <p>
      Resume it to continue on another node from its{' '}
      {snapshotMs > stoppedMs ? 'last snapshot, taken' : 'disk as of its last suspension,'}{' '}
      <RelativeTime ms={Math.max(snapshotMs, stoppedMs)} />. Later changes are lost, unless {hostname} is back by then
      with its disk.
    </p>
  )
}

/** When it stopped running before its last run. */
const lastStopMs = (transitions: Devbox['state_transitions']): number | undefined => {
  const [last, lastButOne] = transitions.flatMap(({ status }, index) => (status === 'running' ? [index] : [])).reverse()
  return last === undefined || lastButOne === undefined ? undefined : transitions[lastButOne + 1]?.transition_time_ms
}

const failures: Record<string, Reason> = {
  node_lost: {
    why: 'The node it ran on stopped responding.',
    next: 'Duplicate it to start again on another node.',
  },
  out_of_memory: { why: 'It ran out of memory.', next: 'Duplicate it with a larger size.' },
  out_of_disk: { why: 'It ran out of disk space.', next: 'Duplicate it with a larger or custom size.' },
  execution_failed: {
    why: 'A launch command or the entrypoint failed.',
    next: 'Check the output in the log, then duplicate the devbox with a fix.',
  },
  health_check_failed: {
    why: 'Its processes were killed, or it stopped responding.',
    next: 'Check its log.',
  },
}
const remains = 'The disk is deleted. Snapshots and the log remain.'
const shutdowns: Record<string, Reason> = {
  api_shutdown: { why: 'Shut down through the API or console.', next: remains },
  keep_alive_timeout: {
    why: 'Its keep-alive time expired.',
    next: `${remains} Next time, set a longer time or an idle policy that suspends the devbox.`,
  },
  entrypoint_exit: { why: 'Its entrypoint exited.', next: `${remains} The log has the exit status.` },
  idle: {
    why: 'It was idle for too long.',
    next: `${remains} Next time, set an idle policy that suspends the devbox instead.`,
  },
  ttl_expired: { why: 'Its lifetime ended.', next: remains },
}
