'use client'
import type { LucideIcon } from 'lucide-react'
import { Bell, BellOff, BellRing, Check, CircleCheck, MessageSquare, Undo2, UserRoundPlus } from 'lucide-react'
import type { ReactNode } from 'react'
import { useShownZone } from '#components/ui/relative-time.tsx'
import { formatExact } from '#components/ui/time-text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isoTime } from '#lib/browser/format.ts'
import { alertStateLabel } from '#lib/protocol/alert-labels.ts'
import type { Alert, AlertEntry, AlertState } from '#lib/protocol/alerts.ts'

export const AlertLog = ({ alert }: { alert: Alert }) => {
  const zone = useShownZone()
  const { log = [] } = alert
  if (log.length === 0) return <p className="text-muted">No log. The alert is from an earlier version of Devdeck.</p>
  return (
    <ol className="space-y-3">
      {log.map((entry, index) => {
        const Icon = icons[entry.what]
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries are only appended
          <li key={index} className="flex gap-2.5">
            <Icon aria-hidden className="mt-1 size-3.5 shrink-0 text-muted" />
            <div className="min-w-0">
              <p className="break-words">{sentences[entry.what](entry, alert, index > 0)}</p>
              <p className="tabular text-sm text-muted">
                <time suppressHydrationWarning dateTime={isoTime(entry.at_ms)}>
                  {formatExact(entry.at_ms, zone)}
                </time>
              </p>
            </div>
          </li>
        )
      })}
    </ol>
  )
}

const icons: Record<AlertEntry['what'], LucideIcon> = {
  raised: Bell,
  acknowledged: Check,
  handed_over: UserRoundPlus,
  unacknowledged: Undo2,
  commented: MessageSquare,
  silenced: BellOff,
  silence_ended: BellRing,
  closed: CircleCheck,
}

const Person = ({ name }: { name: string | null | undefined }) => (
  <VisibleText max={100} className="font-medium">
    {name ?? 'Devdeck'}
  </VisibleText>
)

const Quote = ({ text }: { text: string | undefined }) =>
  text !== undefined && (
    <>
      : <VisibleText max={1000}>{text}</VisibleText>
    </>
  )

const sentences: Record<AlertEntry['what'], (entry: AlertEntry, alert: Alert, isRepeated: boolean) => ReactNode> = {
  raised: (_entry, _alert, isRepeated) => (isRepeated ? 'Raised again' : 'Raised'),
  acknowledged: ({ by }) => (
    <>
      Acknowledged by <Person name={by} />
    </>
  ),
  handed_over: ({ by, to }) =>
    by === to ? (
      <>
        Taken over by <Person name={by} />
      </>
    ) : (
      <>
        Handed over to <Person name={to} /> by <Person name={by} />
      </>
    ),
  unacknowledged: ({ by }) => (
    <>
      Acknowledgment undone by <Person name={by} />
    </>
  ),
  commented: ({ by, text }) => (
    <>
      <Person name={by} />
      <Quote text={text} />
    </>
  ),
  silenced: ({ by, text }) => (
    <>
      Silenced by <Person name={by} />
      <Quote text={text} />
    </>
  ),
  silence_ended: ({ by }) =>
    by === null ? (
      'Silence expired'
    ) : (
      <>
        Silence ended by <Person name={by} />
      </>
    ),
  closed: ({ by, text }, { kind }) => (
    <>
      {alertStateLabel({ kind, state: text as AlertState })}
      {by !== null && (
        <>
          {' by '}
          <Person name={by} />
        </>
      )}
    </>
  ),
}
