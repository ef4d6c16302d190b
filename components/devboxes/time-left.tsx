'use client'
import { timeLeftMs, type Urgency, urgencyOfTime } from '#components/alerts/alert-feed.ts'
import { Countdown } from '#components/alerts/countdown.tsx'
import { classes } from '#components/ui/classes.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { formatDurationMs, isoTime } from '#lib/browser/format.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { unattendedEnd } from '#lib/protocol/devbox-ends.ts'

/** Minutes, then a countdown, then "due". `brief` is for a list column. */
export const TimeLeftText = ({ left, brief }: { left: TimeLeft; brief?: boolean }) => {
  const { at_ms, cause, is_at_least, deletesDisk } = left
  // The last use that a service reports may be slightly early.
  const isEstimate = cause === 'idle'
  const leftMs = (nowMs: number) => timeLeftMs(at_ms, nowMs)
  const urgency = useClock((nowMs) => urgencyOfTime(leftMs(nowMs), deletesDisk), 'neutral')
  const isDue = useClock((nowMs) => leftMs(nowMs) === 0, false)
  const minutes = useClock((nowMs) => formatDurationMs(Math.floor(leftMs(nowMs) / 60_000) * 60_000), '')
  return (
    <span
      className={classes(
        'tabular inline-flex shrink-0 items-baseline justify-end gap-1 whitespace-nowrap',
        timeClasses[urgency],
      )}
      title={`${describeEnd(left)}${is_at_least ? ', no earlier than' : isEstimate ? ', at about' : ', at'} ${isoTime(at_ms) ?? 'an unknown time'}`}
    >
      {isDue ? (
        dueText(left, brief)
      ) : (
        <>
          {(!brief || is_at_least) && (
            <span className="text-sm">
              {!brief && `${verb(left)} in`}
              {is_at_least ? ' at least' : isEstimate && ' about'}
            </span>
          )}
          {urgency === 'neutral' ? minutes : <Countdown deadlineMs={at_ms} />}
        </>
      )}
      {brief && !isDue && (
        <span className="sr-only">
          {cause === 'eviction'
            ? 'until it is evicted'
            : deletesDisk
              ? 'until it is shut down'
              : 'until it is suspended'}
        </span>
      )}
    </span>
  )
}

const timeClasses: Record<Urgency, string> = {
  danger: 'text-danger',
  attention: 'text-attention',
  neutral: 'text-muted',
}

const dueText = ({ cause, deletesDisk }: TimeLeft, brief = false) => {
  if (brief) return 'Due'
  if (cause === 'eviction') return 'eviction due'
  return deletesDisk ? 'end due' : 'suspension due'
}

const verb = ({ cause, deletesDisk }: TimeLeft) =>
  cause === 'eviction' ? 'evicted' : deletesDisk ? 'ends' : 'suspended'

const describeEnd = ({ cause, deletesDisk }: TimeLeft) => {
  if (cause === 'eviction') return 'Evicts'
  const what = deletesDisk ? 'Shuts down and deletes the disk' : 'Suspends'
  return `${what} when its ${cause === 'idle' ? 'idle' : 'keep-alive'} time expires`
}

/** The next deadline that ends or suspends a devbox. */
export interface TimeLeft {
  at_ms: number
  cause: 'eviction' | 'keep_alive' | 'idle'
  is_at_least: boolean
  deletesDisk: boolean
}

export const timeLeftOf = (
  devbox: Devbox,
  eviction: Pick<Alert, 'deadline_ms'> | undefined,
  keptAlive?: ReadonlyMap<string, number>,
): TimeLeft | undefined => {
  const end = unattendedEnd(devbox, keptAlive?.get(devbox.id))
  const unattended = end && {
    at_ms: end.at_ms,
    cause: end.cause,
    is_at_least: end.is_at_least,
    deletesDisk: end.action === 'shutdown',
  }
  // A service may still report an eviction after suspending the devbox.
  const evicted = eviction &&
    !stopped.includes(devbox.status) && {
      at_ms: eviction.deadline_ms,
      cause: 'eviction' as const,
      is_at_least: false,
      deletesDisk: false,
    }
  if (!evicted || !unattended) return evicted || unattended
  return evicted.at_ms <= unattended.at_ms ? evicted : unattended
}

const stopped: readonly string[] = ['suspending', 'suspended', 'shutdown', 'failure']
