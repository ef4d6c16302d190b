import { ArrowRightLeft, Ban, Bell, Check, CircleSlash, CircleStop, PauseCircle, Undo2 } from 'lucide-react'
import { Badge, StateBadge, type StateLook } from '#components/ui/badge.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isoTime } from '#lib/browser/format.ts'
import { type Alert, type AlertKind, type AlertState, stoppedText } from '#lib/protocol/alerts.ts'

export const alertKindWords: Record<AlertKind, string> = {
  eviction: 'Eviction',
  end: 'End with its disk',
  failure: 'Failure',
  job: 'Job ended',
  test: 'Test',
}

export const alertStateWords: Record<AlertState, string> = {
  new: 'New',
  acknowledged: 'Acknowledged',
  moved: 'Moved',
  ended: 'Evicted',
  passed: 'Passed',
  withdrawn: 'No longer reported',
  cancelled: 'Cancelled',
  stopped: 'Stopped before its deadline',
  seen: 'Seen',
}

const looks: Record<AlertState, StateLook> = {
  new: { tone: 'attention', icon: Bell, word: alertStateWords.new },
  acknowledged: { tone: 'neutral', icon: Check, word: alertStateWords.acknowledged },
  moved: { tone: 'neutral', icon: ArrowRightLeft, word: alertStateWords.moved },
  ended: { tone: 'danger', icon: PauseCircle, word: alertStateWords.ended },
  passed: { tone: 'ok', icon: Undo2, word: alertStateWords.passed },
  withdrawn: { tone: 'neutral', icon: CircleSlash, word: alertStateWords.withdrawn },
  cancelled: { tone: 'neutral', icon: Ban, word: alertStateWords.cancelled },
  stopped: { tone: 'neutral', icon: CircleStop, word: alertStateWords.stopped },
  seen: { tone: 'neutral', icon: Check, word: alertStateWords.seen },
}

const looksOf = (alert: Alert): Record<AlertState, StateLook> => {
  const stopped = { ...looks.stopped, word: capitalize(stoppedText(alert)) }
  // The end of a keep-alive time is no eviction.
  return { ...looks, stopped, ...(alert.kind === 'eviction' ? {} : { ended: { ...looks.ended, word: 'Ended' } }) }
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const meanings: Record<AlertState, string> = {
  new: 'Nobody has taken it on, or not since it was raised again',
  acknowledged: 'Somebody has taken it on. It is raised again two minutes before the deadline',
  moved: 'The devbox has another deadline now, which is an alert of its own',
  ended: 'The devbox stopped at its deadline',
  passed: 'The deadline went by and the devbox still ran',
  withdrawn: 'The service stopped reporting it before its deadline, or does not tell what became of it',
  cancelled: 'Somebody canceled it through this console before its deadline',
  stopped: 'The devbox stopped before its deadline',
  seen: 'Somebody acknowledged what had happened',
}

export const AlertStateBadge = ({ alert }: { alert: Alert }) => (
  <span className="inline-flex flex-wrap items-center gap-1.5">
    <StateBadge
      looks={looksOf(alert)}
      state={alert.state}
      title={
        alert.kind === 'test' && alert.state === 'passed' ? 'The minute of the test is over' : meanings[alert.state]
      }
    />
    {alert.is_drill && (
      <Badge tone="neutral" title="Scheduled through this console, to practise">
        Drill
      </Badge>
    )}
    {alert.found_late && (
      <Badge
        tone="neutral"
        title="The console was not listening when the service first reported it, or the stream lost it"
      >
        Found late
      </Badge>
    )}
  </span>
)

/** Who took it on last; where it was raised again since, that it was so. */
export const TakenOn = ({ alert: { state, acknowledged_by, acknowledged_ms } }: { alert: Alert }) => (
  <>
    {acknowledged_by !== null && acknowledged_ms !== null && (
      <span
        className="min-w-0 truncate text-muted"
        title={`Taken on by ${acknowledged_by}, ${isoTime(acknowledged_ms) ?? 'at a time that is not known'}`}
      >
        {takenWords[state] ?? 'taken on by'} <VisibleText max={60}>{acknowledged_by}</VisibleText>
      </span>
    )}
  </>
)

const takenWords: Partial<Record<AlertState, string>> = { acknowledged: 'by', seen: 'by', new: 'was with' }
