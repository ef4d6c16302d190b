'use client'
import { EvictedStep } from '#components/alerts/devbox-eviction.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatDurationMs, formatElapsedMs } from '#lib/browser/format.ts'
import { type Devbox, hasEnded } from '#lib/contract/devboxes.ts'
import { DevboxStatusBadge } from '../status.tsx'

export const StateHistory = ({ devbox: { id, state_transitions: transitions } }: { devbox: Devbox }) => {
  if (transitions.length === 0) return <p className="text-muted">No states recorded</p>
  const states = transitions.map(({ status = 'unknown', transition_time_ms, failure_reason }, index) => ({
    status,
    failureReason: failure_reason,
    startMs: transition_time_ms,
    endMs: transitions[index + 1]?.transition_time_ms,
    isLast: index === transitions.length - 1,
    index,
  }))
  return (
    <ol className="space-y-0">
      {states.reverse().map(({ index, status, failureReason, startMs, endMs, isLast }) => (
        <li key={index} className="relative flex gap-3 pb-4 pl-5 last:pb-0">
          <span aria-hidden className="absolute top-1.5 left-0.5 size-2 rounded-full bg-line-strong" />
          {index > 0 && <span aria-hidden className="absolute top-4 bottom-0 left-[5px] w-px bg-line" />}
          <div className="min-w-0 flex-1">
            <DevboxStatusBadge status={status} past={!isLast} />
            <EvictedStep devboxId={id} steps={transitions} index={index} />
            {failureReason && (
              <p className="mt-1 break-words text-danger">
                <VisibleText max={600}>{failureReason}</VisibleText>
              </p>
            )}
          </div>
          <div className="shrink-0 text-right text-muted">
            {startMs !== undefined && <RelativeTime ms={startMs} />}
            {startMs !== undefined && !(isLast && hasEnded(status)) && (
              <p className="tabular text-sm">
                <Duration startMs={startMs} endMs={endMs} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ol>
  )
}

const Duration = ({ startMs, endMs }: { startMs: number; endMs: number | undefined }) => {
  const text = useClock((nowMs) =>
    endMs === undefined ? formatElapsedMs(nowMs - startMs) : formatDurationMs(endMs - startMs),
  )
  return <span suppressHydrationWarning>for {text}</span>
}
