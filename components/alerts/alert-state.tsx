import type { LucideIcon } from 'lucide-react'
import { ArrowRightLeft, Ban, Bell, Check, CircleSlash, CircleStop, PauseCircle, Undo2 } from 'lucide-react'
import { Badge, type Tone } from '#components/ui/badge.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isoTime } from '#lib/browser/format.ts'
import { alertStateLabel } from '#lib/protocol/alert-labels.ts'
import { type Alert, type AlertState, stoppedText } from '#lib/protocol/alerts.ts'

const styles: Record<AlertState, { tone: Tone; icon: LucideIcon; meaning: string }> = {
  new: { tone: 'attention', icon: Bell, meaning: 'Unacknowledged since it was last raised' },
  acknowledged: {
    tone: 'neutral',
    icon: Check,
    meaning: 'Acknowledged. Raised again two minutes before the deadline',
  },
  moved: { tone: 'neutral', icon: ArrowRightLeft, meaning: 'Replaced by an alert with the new deadline' },
  ended: { tone: 'danger', icon: PauseCircle, meaning: 'The devbox stopped at its deadline' },
  passed: { tone: 'ok', icon: Undo2, meaning: 'The devbox was still running after the deadline' },
  withdrawn: {
    tone: 'neutral',
    icon: CircleSlash,
    meaning: 'The service stopped reporting it, or did not report the outcome',
  },
  cancelled: { tone: 'neutral', icon: Ban, meaning: 'Canceled from this console before the deadline' },
  stopped: { tone: 'neutral', icon: CircleStop, meaning: 'The devbox stopped before its deadline' },
  seen: { tone: 'neutral', icon: Check, meaning: 'Acknowledged' },
  resolved: { tone: 'ok', icon: Check, meaning: 'The console sees evictions again' },
}

const labelOf = (alert: Alert): string => {
  if (alert.state === 'stopped') {
    const text = stoppedText(alert)
    return text.charAt(0).toUpperCase() + text.slice(1)
  }
  return alertStateLabel(alert)
}

export const AlertStateBadge = ({ alert }: { alert: Alert }) => {
  const { tone, icon, meaning } = styles[alert.state]
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Badge
        tone={tone}
        icon={icon}
        title={alert.kind === 'test' && alert.state === 'passed' ? 'The test alert expired after a minute' : meaning}
      >
        {labelOf(alert)}
      </Badge>
      {alert.is_drill && (
        <Badge tone="neutral" title="Scheduled from this console as a drill">
          Drill
        </Badge>
      )}
      {alert.found_late && (
        <Badge
          tone="neutral"
          title="The console wasn't connected when the service first reported it, or the stream lost the event"
        >
          Found late
        </Badge>
      )}
    </span>
  )
}

export const AcknowledgedBy = ({ alert: { state, acknowledged_by, acknowledged_ms } }: { alert: Alert }) =>
  acknowledged_by !== null &&
  acknowledged_ms !== null && (
    <span
      className="min-w-0 truncate text-muted"
      title={`Acknowledged by ${acknowledged_by}, ${isoTime(acknowledged_ms) ?? 'time unknown'}`}
    >
      {state === 'acknowledged' || state === 'seen' ? 'by' : 'acknowledged by'}{' '}
      <VisibleText max={60}>{acknowledged_by}</VisibleText>
    </span>
  )
