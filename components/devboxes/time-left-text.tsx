'use client'
import { useQuery } from '@tanstack/react-query'
import { timeLeftMs, type Urgency, urgencyOfTime } from '#components/alerts/alert-feed.ts'
import { Countdown } from '#components/alerts/countdown.tsx'
import { alertQueries } from '#components/alerts/queries.ts'
import { classes } from '#components/ui/classes.ts'
import { useClock } from '#components/ui/use-clock.ts'
import { formatDurationMs, isoTime } from '#lib/browser/format.ts'
import type { TimeLeft } from './time-left.ts'

/** Minutes, a countdown for the last few, then "due". `brief`: under a column header that says what it is. */
export const TimeLeftText = ({ left, brief }: { left: TimeLeft; brief?: boolean }) => {
  const { at_ms, cause, is_at_least, deletesDisk } = left
  // By the console's clock, as the countdown.
  const { data: feed } = useQuery(alertQueries.feed())
  const leftMs = (nowMs: number) => timeLeftMs(feed, at_ms, nowMs)
  const urgency = useClock((nowMs) => urgencyOfTime(leftMs(nowMs), deletesDisk), 'neutral')
  const isDue = useClock((nowMs) => leftMs(nowMs) === 0, false)
  const minutes = useClock((nowMs) => formatDurationMs(Math.floor(leftMs(nowMs) / 60_000) * 60_000), '')
  return (
    <span
      className={classes(
        'tabular inline-flex shrink-0 items-baseline justify-end gap-1 whitespace-nowrap',
        timeClasses[urgency],
      )}
      title={`${sentenceOf(left)}${is_at_least ? ', at the earliest: the service does not say when' : ''}, at ${isoTime(at_ms) ?? 'a time the service did not tell'}`}
    >
      {isDue ? (
        dueText(left, brief)
      ) : (
        <>
          {(!brief || is_at_least) && (
            <span className="text-sm">
              {!brief && `${verbOf(left)} in`}
              {is_at_least && ' at least'}
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

const verbOf = ({ cause, deletesDisk }: TimeLeft) =>
  cause === 'eviction' ? 'evicted' : deletesDisk ? 'ends' : 'suspended'

const sentenceOf = ({ cause, deletesDisk }: TimeLeft) => {
  if (cause === 'eviction') return 'Evicted'
  const what = deletesDisk ? 'Ends with its disk' : 'Suspended'
  return `${what} when its ${cause === 'idle' ? 'idle' : 'keep-alive'} time is over`
}
