import Link from 'next/link'
import type { ReactNode } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { Section } from '#components/ui/section.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { formatExact, formatInput } from '#components/ui/time-text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf, formatDurationMs } from '#lib/browser/format.ts'
import { alertKindLabels, alertStateLabel } from '#lib/protocol/alert-labels.ts'
import { occurredMs } from '#lib/protocol/alert-outcomes.ts'
import type { Alert, AlertEntry, AlertState } from '#lib/protocol/alerts.ts'
import type { Listed, NamedEntry, PersonReport, ShiftReport } from '#lib/protocol/shift-report.ts'
import { alertName } from './alert-feed.ts'

export const ShiftReportView = ({ report }: { report: ShiftReport }) => {
  const { from_ms, to_ms, complete_from_ms, open, unattended, interrupted, deleted, failed } = report
  const { hand_overs, comments, practice } = report
  const all = (filter: Parameters<typeof paths.evictionHistory>[0]) =>
    paths.evictionHistory({ from_ms, to_ms, ...filter })
  return (
    <div className="space-y-6">
      <p className="tabular text-muted">
        {formatExact(from_ms)} to {formatExact(to_ms)}. Drills and test alerts count only under Practice.
      </p>
      {complete_from_ms !== null && (
        <Banner tone="attention" title="This report is incomplete">
          Alerts before {formatExact(complete_from_ms)} have been removed from the history.
        </Banner>
      )}
      <div className="grid grid-cols-1 gap-x-12 gap-y-8 lg:grid-cols-2">
        <ByKind {...report} />
        <Response {...report} />
        <Losses {...report} />
        <People {...report} />
        <Coverage {...report} />
        <Section title="Practice">
          <p>
            {formatCountOf(practice.drills, 'drill')}, {formatCountOf(practice.tests, 'test alert')}
            {practice.response.median_ms !== null &&
              `; ${formatCountOf(practice.response.n, 'drill')} acknowledged, median ${formatDurationMs(practice.response.median_ms)}`}
          </p>
        </Section>
      </div>
      <div className="gap-x-12 lg:columns-2">
        <Alerts title="Open at the end" listed={open} timeOf={({ deadline_ms }) => deadline_ms} />
        <Alerts title="Ended unacknowledged" listed={unattended} all={all({ outcome: 'unattended' })}>
          {({ kind }) => kind !== 'eviction' && <span className="text-muted">{alertKindLabels[kind]}</span>}
        </Alerts>
        <Alerts title="Evicted with running work" listed={interrupted} all={all({ outcome: 'interrupted' })}>
          {({ work }) => formatCountOf(work?.commands ?? 0, 'command')}
        </Alerts>
        <Alerts title="Disks deleted" listed={deleted} all={all({ kind: 'end', state: 'ended' })} />
        <Alerts title="Devboxes failed" listed={failed} all={all({ kind: 'failure' })} />
        <Entries title="Handoffs" listed={hand_overs}>
          {({ by, to }) => (
            <>
              <Name of={by} /> to <Name of={to} />
            </>
          )}
        </Entries>
        <Entries title="Comments" listed={comments}>
          {({ by, text = '' }) => (
            <>
              <Name of={by} />:{' '}
              <VisibleText max={500} className="wrap-anywhere whitespace-pre-wrap">
                {text}
              </VisibleText>
            </>
          )}
        </Entries>
      </div>
    </div>
  )
}

const ByKind = ({ kinds, open }: ShiftReport) => (
  <Section title="Alerts">
    {kinds.length === 0 ? (
      <p className="text-muted">No alerts in this period.</p>
    ) : (
      <Facts>
        {kinds.map(({ kind, count, states }) => (
          <Fact key={kind} label={alertKindLabels[kind]} className="tabular">
            {formatCount(count)}:{' '}
            {(Object.entries(states) as [AlertState, number][])
              .map(([state, n]) => `${formatCount(n)} ${alertStateLabel({ kind, state }).toLowerCase()}`)
              .join(', ')}
          </Fact>
        ))}
        <Fact label="Open at the end">{formatCount(open.count)}</Fact>
      </Facts>
    )}
  </Section>
)

const Response = ({ response, unattended }: ShiftReport) => {
  const { raised, acknowledged, median_ms, p90_ms, longest } = response
  const isKnown = median_ms !== null && p90_ms !== null && longest !== null
  return (
    <Section title="Response">
      <Facts>
        <Fact label="Acknowledged">
          {raised === 0 ? 'None raised' : `${formatCount(acknowledged)} of ${formatCount(raised)} raised`}
        </Fact>
        <Fact label="Ended unacknowledged">{formatCount(unattended.count)}</Fact>
        {isKnown && (
          <>
            <Fact label="Median">{formatDurationMs(median_ms)}</Fact>
            <Fact label="90th percentile">{formatDurationMs(p90_ms)}</Fact>
            <Fact label="Longest">
              {formatDurationMs(longest.ms)}, <AlertLink alert={longest.alert} />
            </Fact>
          </>
        )}
      </Facts>
      <p className="text-sm text-muted">Time from the first alarm to the first acknowledgment.</p>
    </Section>
  )
}

const Losses = ({ interrupted, deleted, failed }: ShiftReport) => (
  <Section title="Losses">
    <Facts>
      <Fact label="Evicted with running work">
        {interrupted.of === 0
          ? 'No evictions'
          : `${formatCount(interrupted.count)} of ${formatCountOf(interrupted.of, 'eviction')}`}{' '}
        ({formatCountOf(interrupted.commands, 'command')}
        {interrupted.unknown > 0 && `; not reported for ${formatCount(interrupted.unknown)}`})
      </Fact>
      <Fact label="Disks deleted">
        {deleted.of === 0
          ? 'No scheduled shutdowns'
          : `${formatCount(deleted.count)} of ${formatCountOf(deleted.of, 'scheduled shutdown')}`}
      </Fact>
      <Fact label="Devboxes failed">{formatCount(failed.count)}</Fact>
    </Facts>
  </Section>
)

const shownNames = 3

const People = ({ people }: ShiftReport) => (
  <Section title="People">
    {people.count === 0 ? (
      <p className="text-muted">No one handled an alert in this period.</p>
    ) : (
      <Facts>
        {people.items.map((person) => (
          <Fact key={person.name} label={<Name of={person.name} />}>
            <Actions {...person} />
          </Fact>
        ))}
      </Facts>
    )}
    <More {...people} />
  </Section>
)

const Actions = ({ acknowledged, handed_over, received, stopped, commented }: PersonReport) => {
  const shown = acknowledged.items.slice(0, shownNames)
  const more = acknowledged.count - shown.length
  const others = [
    ...(handed_over > 0 ? [`handed over ${formatCount(handed_over)}`] : []),
    ...(received > 0 ? [`received ${formatCount(received)}`] : []),
    ...(stopped > 0 ? [`stopped ${formatCountOf(stopped, 'devbox', 'devboxes')} early`] : []),
    ...(commented > 0 ? [formatCountOf(commented, 'comment')] : []),
  ]
  return (
    <>
      {shown.length > 0 && `acknowledged ${formatCount(acknowledged.count)} (`}
      {shown.map((alert, n) => (
        <span key={alert.id}>
          {n > 0 && ', '}
          <VisibleText max={60}>{alertName(alert)}</VisibleText>
        </span>
      ))}
      {more > 0 && `, ${formatCount(more)} more`}
      {shown.length > 0 && (others.length > 0 ? '), ' : ')')}
      {others.join(', ')}
    </>
  )
}

const Coverage = ({ outages, silences, receivers }: ShiftReport) => (
  <Section title="Coverage">
    <div className="space-y-1">
      <p>
        {outages.count === 0
          ? 'No outages of the eviction watch'
          : `${formatCountOf(outages.count, 'outage')} of the eviction watch, ${formatDurationMs(outages.total_ms)} in this period`}
      </p>
      <ul>
        {outages.items.map((alert) => (
          <li key={alert.id}>
            <span className="tabular text-muted">
              {minuteOf(alert.deadline_ms)} to {alert.closed_ms === null ? 'now' : minuteOf(alert.closed_ms)}
            </span>{' '}
            <VisibleText max={200}>{alert.watch?.detail ?? ''}</VisibleText>
          </li>
        ))}
      </ul>
      <More {...outages} />
      {silences.map(({ by, comment, alerts }) => (
        <p key={`${by} ${comment}`}>
          Silence by <Name of={by} />
          {comment && (
            <>
              {' ('}
              <VisibleText max={200}>{comment}</VisibleText>)
            </>
          )}
          : {formatCountOf(alerts, 'alert')}
        </p>
      ))}
      {receivers.length === 0 && <p>No receivers: alerts reached only open pages</p>}
      {receivers.map(({ id, name, format, host, delivered, failed, waiting, failure }) => (
        <p key={id} className={failed > 0 || failure ? 'text-danger' : undefined}>
          Receiver <VisibleText max={60}>{name}</VisibleText> (<VisibleText max={100}>{host}</VisibleText>):{' '}
          {format === 'heartbeat' ? 'heartbeat' : `${formatCount(delivered)} delivered, ${formatCount(failed)} failed`}
          {waiting > 0 && `, ${formatCountOf(waiting, 'message')} waiting now`}
          {failure && (
            <>
              , failing since {minuteOf(failure.since_ms)} (<VisibleText max={200}>{failure.answer}</VisibleText>)
            </>
          )}
        </p>
      ))}
    </div>
  </Section>
)

interface AlertsProps {
  title: string
  listed: Listed<Alert>
  /** Address of all in the history. */
  all?: string
  timeOf?: (alert: Alert) => number
  children?: (alert: Alert) => ReactNode
}

const Alerts = ({ title, listed, all, timeOf = occurredMs, children }: AlertsProps) => (
  <List title={title} all={all} {...listed}>
    {listed.items.map((alert) => (
      <Line key={alert.id} ms={timeOf(alert)} alert={alert}>
        {children?.(alert)}
      </Line>
    ))}
  </List>
)

interface EntriesProps {
  title: string
  listed: Listed<NamedEntry>
  children: (entry: AlertEntry) => ReactNode
}

const Entries = ({ title, listed, children }: EntriesProps) => (
  <List title={title} {...listed}>
    {listed.items.map(({ alert, entry }) => (
      <Line key={`${alert.id} ${entry.at_ms}`} ms={entry.at_ms} alert={alert}>
        {children(entry)}
      </Line>
    ))}
  </List>
)

interface ListProps extends MoreProps {
  title: string
  children: ReactNode
}

const List = ({ title, children, ...listed }: ListProps) =>
  listed.count > 0 && (
    <section aria-label={title} className="mb-8 break-inside-avoid">
      <h2 className="border-b border-line pb-1 text-lg font-medium">
        {title} <span className="tabular text-base font-normal text-muted">{formatCount(listed.count)}</span>
      </h2>
      <ul>{children}</ul>
      <More {...listed} />
    </section>
  )

interface MoreProps extends Listed<unknown> {
  all?: string | undefined
}

const More = ({ count, items, all }: MoreProps) =>
  count > items.length && (
    <p className="pt-1 text-sm text-muted">
      Showing {formatCount(items.length)} of {formatCount(count)}
      {all && (
        <>
          {'. '}
          <TextLink href={all} prefetch={false}>
            Show all
          </TextLink>
        </>
      )}
    </p>
  )

const Line = ({ ms, alert, children }: { ms: number; alert: Alert; children: ReactNode }) => (
  <li className="flex min-w-0 flex-wrap gap-x-3 border-b border-line py-1">
    <span className="tabular shrink-0 text-muted">{minuteOf(ms)}</span>
    <AlertLink alert={alert} />
    <span className="min-w-0">{children}</span>
  </li>
)

const minuteOf = (ms: number): string => formatInput(ms).replace('T', ' ')

const AlertLink = ({ alert }: { alert: Alert }) => (
  <Link href={paths.alert(alert.id)} prefetch={false} className="min-w-0 font-medium wrap-anywhere hover:underline">
    <VisibleText max={60}>{alertName(alert)}</VisibleText>
  </Link>
)

const Name = ({ of: name }: { of: string | null | undefined }) => (
  <VisibleText max={60}>{name ?? 'Devdeck'}</VisibleText>
)
