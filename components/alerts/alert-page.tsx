'use client'
import { useQuery } from '@tanstack/react-query'
import { Camera, Check, MessageSquare, SquareTerminal, Undo2, UserRoundCheck, UserRoundPlus } from 'lucide-react'
import dynamic from 'next/dynamic'
import { Fragment, useState } from 'react'
import { NodeLink } from '#components/cluster/node-link.tsx'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { useShownName } from '#components/layout/page-name.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { Section } from '#components/ui/section.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { alertKindLabels } from '#lib/protocol/alert-labels.ts'
import { type Alert, canAcknowledge, hasHappened, isOpen, isSilenced } from '#lib/protocol/alerts.ts'
import { isPushId } from '#lib/protocol/push.ts'
import { AlertMenu, isRunning, useAlertActions } from './alert-actions.tsx'
import { Kind } from './alert-columns.tsx'
import { alertName, isAboutDevbox, timeLeftMs } from './alert-feed.ts'
import { AlertLog } from './alert-log.tsx'
import { AlertStateBadge } from './alert-state.tsx'
import { alertEvent, groupConsequence } from './alert-text.ts'
import { Countdown } from './countdown.tsx'
import { isHeldBy, useOwnLabel } from './people/own-name.ts'
import { alertQueries } from './queries.ts'
import { receiverQueries } from './receivers/queries.ts'
import { RunningWork } from './running-work.tsx'

const SilenceDialog = dynamic(async () => (await import('./silences.tsx')).SilenceDialog)

interface AlertPageProps {
  id: string
  /** Only the embedded local service can cancel evictions. */
  isLocal: boolean
}

export const AlertPage = ({ id, isLocal }: AlertPageProps) => {
  const query = useQuery(alertQueries.get(id))
  const { data: feed } = useQuery(alertQueries.feed())
  const live = feed.open.find((alert) => alert.id === id)
  useShownName(query.data && { id: encodeURIComponent(id), name: alertName(query.data) })
  return (
    <DetailPage kind="alert" query={query} nameOf={alertName}>
      {(loaded) => <AlertDetail alert={live ?? loaded} isLocal={isLocal} />}
    </DetailPage>
  )
}

const AlertDetail = ({ alert, isLocal }: { alert: Alert; isLocal: boolean }) => {
  const actions = useAlertActions()
  const own = useOwnLabel()
  const [isSilencing, setIsSilencing] = useState(false)
  const isRunningNow = isOpen(alert) && isRunning(alert)
  return (
    <>
      <PageHeader
        title={alertName(alert)}
        badge={<AlertStateBadge alert={alert} />}
        description={isOpen(alert) ? <Outlook alert={alert} /> : undefined}
        actions={
          <>
            {canAcknowledge(alert) && (
              <Button variant="primary" icon={Check} needs="/api/alerts" onClick={() => actions.acknowledge([alert])}>
                Acknowledge
              </Button>
            )}
            {alert.state === 'acknowledged' && !isHeldBy(own, alert) && (
              <Button icon={UserRoundCheck} needs="/api/alerts" onClick={() => actions.takeOver([alert])}>
                Take over
              </Button>
            )}
            {(alert.state === 'acknowledged' || alert.state === 'seen') && (
              <Button icon={Undo2} needs="/api/alerts" onClick={() => actions.undo([alert])}>
                Undo
              </Button>
            )}
            {isOpen(alert) && (
              <Button icon={UserRoundPlus} needs="/api/alerts" onClick={() => actions.handOver([alert])}>
                Hand over
              </Button>
            )}
            <Button icon={MessageSquare} needs="/api/alerts" onClick={() => actions.comment([alert])}>
              Comment
            </Button>
            {isRunningNow && (
              <>
                <Button icon={Camera} needs="snapshots.createAsync" onClick={() => actions.snapshot([alert])}>
                  Snapshot
                </Button>
                <ButtonLink icon={SquareTerminal} href={paths.devbox(alert.devbox_id, 'terminal')} prefetch={false}>
                  Terminal
                </ButtonLink>
              </>
            )}
            <AlertMenu
              alert={alert}
              actions={actions}
              isLocal={isLocal}
              isOnPage
              onSilence={() => setIsSilencing(true)}
            />
          </>
        }
      />
      <div className="grid gap-x-12 gap-y-8 lg:grid-cols-2">
        <Section title="Details">
          <Facts>
            <About alert={alert} />
            <Fact label={hasHappened(alert) ? 'When' : 'Deadline'}>
              <RelativeTime ms={alert.deadline_ms} />
            </Fact>
            <Fact label="Received">
              <RelativeTime ms={alert.first_heard_ms} />
              {alert.alarms > 1 && `, raised ${alert.alarms} times`}
            </Fact>
            <Fact label="Acknowledged by">
              {alert.acknowledged_by === null ? (
                <span className="text-muted">Nobody</span>
              ) : (
                <>
                  <VisibleText max={100}>{alert.acknowledged_by}</VisibleText>{' '}
                  <RelativeTime ms={alert.acknowledged_ms} className="text-muted" />
                </>
              )}
            </Fact>
            {isRunningNow && (
              <Fact label="Running work">
                <RunningWork alert={alert} />
              </Fact>
            )}
            {alert.work && (
              <Fact label="Running work">
                {alert.work.commands === 0 ? 'None' : `${formatCountOf(alert.work.commands, 'command')} interrupted`}
              </Fact>
            )}
            <SilencedBy alert={alert} />
            <SentTo alert={alert} />
          </Facts>
        </Section>
        <Section title="Log">
          <AlertLog alert={alert} />
        </Section>
        {isAboutDevbox(alert) && <OtherAlerts alert={alert} />}
      </div>
      {actions.dialog}
      {isSilencing && <SilenceDialog metadata={alert.metadata} onClose={() => setIsSilencing(false)} />}
    </>
  )
}

/** "Will be evicted in 12:04. Its processes end, its disk is kept." */
const Outlook = ({ alert }: { alert: Alert }) => {
  const isDue = useClock((nowMs) => !hasHappened(alert) && timeLeftMs(alert.deadline_ms, nowMs) === 0)
  const event = alertEvent(alert)
  const consequence = groupConsequence({ id: alert.id, alerts: [alert] })
  return (
    <>
      {event.charAt(0).toUpperCase() + event.slice(1)}
      {!hasHappened(alert) &&
        (isDue ? (
          ' now'
        ) : (
          <>
            {' in '}
            <Countdown deadlineMs={alert.deadline_ms} />
          </>
        ))}
      . {consequence}
    </>
  )
}

const About = ({ alert }: { alert: Alert }) => (
  <>
    <Fact label="Kind">
      <Kind alert={alert} />
    </Fact>
    {isAboutDevbox(alert) && (
      <Fact label="Devbox">
        <TextLink href={paths.devbox(alert.devbox_id)}>{alert.devbox_id}</TextLink>
      </Fact>
    )}
    {alert.job && (
      <Fact label="Benchmark job">
        <TextLink href={paths.benchmarkJob(alert.job.id)}>{alert.job.id}</TextLink>
      </Fact>
    )}
    {alert.watch && (
      <Fact label="Reason">
        <VisibleText max={300}>{alert.watch.detail}</VisibleText>
      </Fact>
    )}
    {alert.node !== undefined && (
      <Fact label="Node">
        <NodeLink hostname={alert.node} />
      </Fact>
    )}
    {isAboutDevbox(alert) && (
      <Fact label="Metadata">
        <MetadataChips metadata={alert.metadata} empty={<span className="text-muted">None</span>} />
      </Fact>
    )}
  </>
)

const maxOthers = 5

/** The latest alerts of the devbox, such as the one that a new deadline raised. */
const OtherAlerts = ({ alert }: { alert: Alert }) => {
  const { data = [] } = useQuery(alertQueries.ofDevbox(alert.devbox_id))
  const others = data.filter(({ id }) => id !== alert.id).slice(0, maxOthers)
  return (
    others.length > 0 && (
      <Section title="Other alerts of this devbox">
        <ul>
          {others.map((other) => (
            <li key={other.id} className="flex min-h-9 flex-wrap items-center gap-x-3 border-b border-line py-1">
              <TextLink href={paths.alert(other.id)} prefetch={false}>
                {alertKindLabels[other.kind]}
              </TextLink>
              <RelativeTime ms={other.deadline_ms} className="text-muted" />
              <AlertStateBadge alert={other} />
            </li>
          ))}
        </ul>
      </Section>
    )
  )
}

const SilencedBy = ({ alert }: { alert: Alert }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const ids = useClock((nowMs) =>
    feed.silences
      .filter((silence) => isOpen(alert) && isSilenced(alert, [silence], nowMs))
      .map(({ id }) => id)
      .join(' '),
  )
  const silences = feed.silences.filter(({ id }) => ids.split(' ').includes(id))
  return silences.map(({ id, by, until_ms, comment }) => (
    <Fact key={id} label="Silenced">
      by <VisibleText max={100}>{by}</VisibleText>, ends <RelativeTime ms={until_ms} />
      {comment && (
        <>
          : <VisibleText max={500}>{comment}</VisibleText>
        </>
      )}
    </Fact>
  ))
}

const SentTo = ({ alert: { receivers = [] } }: { alert: Alert }) => {
  const { data } = useQuery(receiverQueries.list())
  if (!data) return null
  const ids = receivers.filter((id) => !isPushId(id))
  const browsers = receivers.length - ids.length
  const notified = data.receivers.filter(({ id }) => ids.includes(id))
  const deleted = ids.length - notified.length
  return (
    <Fact label="Receivers">
      {receivers.length === 0 && <span className="text-muted">None</span>}
      {browsers > 0 && `Push to ${formatCountOf(browsers, 'browser')}${ids.length > 0 ? ', ' : ''}`}
      {notified.map(({ id, name, failure }, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <TextLink href={`${paths.evictions()}#receivers`} prefetch={false}>
            <VisibleText max={60}>{name}</VisibleText>
          </TextLink>
          {failure && <span className="text-danger"> (failing)</span>}
        </Fragment>
      ))}
      {deleted > 0 && `${notified.length > 0 ? ', ' : ''}${deleted} deleted since`}
    </Fact>
  )
}
