'use client'
import { useQuery } from '@tanstack/react-query'
import { BellRing, Play } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { LiveState } from '#components/ui/live-badge.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { alertSettings, playAlertSound } from '#lib/browser/alerts/alert-settings.ts'
import { type NotificationState, notificationState, turnOnNotifications } from '#lib/browser/alerts/notifications.ts'
import { formatCount, formatCountOf, formatDurationMs } from '#lib/browser/format.ts'
import { alertQueries } from '#lib/browser/queries/alerts.ts'
import { evictionQueries } from '#lib/browser/queries/evictions.ts'
import type { AlertHealth, AlertStreamHealth, PollHealth, WebhookDelivery } from '#lib/protocol/alerts.ts'
import { streamState } from './stream-status.tsx'

/** How far the alerts of this page can be trusted: the way from the service, and the way on to people. */
export const StreamHealth = () => {
  const query = useQuery(alertQueries.health())
  const { data: feed } = useQuery(evictionQueries.feed())
  const { data, refetch } = query
  const state = streamState(feed.health)
  // What has changed for this page has changed for the console, too: both are told together.
  useEffect(() => {
    if (state !== 'connecting') void refetch()
  }, [state, refetch])
  return (
    <section aria-labelledby="stream" className="space-y-2">
      <h2 id="stream" className="text-lg font-medium">
        Stream of evictions
      </h2>
      <p className="text-muted">
        Evictions are announced by the service, which does not promise that every one is delivered.
      </p>
      {!data && query.error && (
        <ErrorState compact title="The state of the stream is unknown" error={query.error} query={query} />
      )}
      <Facts>
        <Fact label="This page">
          <LiveState health={{ ...feed.health, state }} what="the eviction stream" />
        </Fact>
        {data && <Stream stream={data.stream} />}
        {data && <Looks looks={data.looks} />}
        {data?.unwritten != null && (
          <Fact label="History">
            <span className="text-danger">Alerts cannot be written down: {data.unwritten}.</span>
            <p className="text-muted">
              They are announced all the same, and lost if the console stops before they can.
            </p>
          </Fact>
        )}
      </Facts>
    </section>
  )
}

/** Before the time since when it is so. */
const streamWords: Record<AlertStreamHealth['state'], string> = {
  connecting: 'Connecting, begun',
  live: 'Connected',
  retrying: 'Away, and being tried again: lost',
  refused: 'Refused by the service',
}

const Stream = ({ stream }: { stream: AlertStreamHealth }) => (
  <>
    <Fact label="Service">
      {streamWords[stream.state]} <RelativeTime ms={stream.since_ms} />
    </Fact>
    <Fact label="Last sign of life">
      <Time ms={stream.last_heard_ms} />
    </Fact>
    <Fact label="Last event">
      <Time ms={stream.last_event_ms} />
    </Fact>
    {stream.unreadable > 0 && (
      <Fact label="Not understood">
        <span className="text-danger">
          {formatCountOf(stream.unreadable, 'event')}, which may be evictions. Ask the operator of the service.
        </span>
        {stream.unreadable_reason !== null && (
          <p className="text-muted">
            Last: <VisibleText max={200}>{stream.unreadable_reason}</VisibleText>
          </p>
        )}
      </Fact>
    )}
    <Fact label="Reconnects">{formatCount(stream.reconnects)}</Fact>
    {stream.gaps.length > 0 && (
      <Fact label="Last gaps">
        <ul>
          {stream.gaps.slice(0, 5).map(({ from_ms, to_ms }) => (
            <li key={from_ms}>
              {formatDurationMs(to_ms - from_ms)}, until <RelativeTime ms={to_ms} />
            </li>
          ))}
        </ul>
      </Fact>
    )}
  </>
)

/** What no stream tells is asked for: how much of it, and how old the last answer is. */
const Looks = ({ looks }: { looks: PollHealth }) => (
  <Fact label="Asked for">
    Ends, failures and followed jobs, every {formatDurationMs(looks.every_ms)}; last answer{' '}
    <Time ms={looks.looked_ms} />
    {looks.problem !== null && <span className="text-danger">. {looks.problem} since</span>}
    <p className="text-muted">
      The end of {formatCount(looks.watched)} of {formatCount(looks.running)}
      {looks.has_more && ' and more'} running devboxes is known;{' '}
      {formatCountOf(looks.followed_jobs, 'job is', 'jobs are')} followed.
    </p>
  </Fact>
)

const Time = ({ ms }: { ms: number | null }) =>
  ms === null ? <span className="text-muted">none yet</span> : <RelativeTime ms={ms} />

/** What makes alerts heard in this browser when nobody looks at the page. */
export const BrowserAlerts = ({ account }: { account: string }) => {
  const settings = useSyncExternalStore(alertSettings.subscribe, alertSettings.read, alertSettings.onServer)
  return (
    <section aria-labelledby="browser" className="space-y-2">
      <h2 id="browser" className="text-lg font-medium">
        In this browser
      </h2>
      <p className="text-muted">
        Each alarm once over all tabs, and again ten and two minutes before the deadline. With no tab open, only a{' '}
        <a href="#webhook" className="text-accent underline">
          webhook
        </a>{' '}
        reaches people.
      </p>
      <Facts>
        <Fact label="Notifications">
          <Notifications account={account} isWanted={settings.notifications} />
        </Fact>
        <Fact label="Sound">
          <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
            <Check
              small
              label="Play a sound"
              checked={settings.sound}
              onCheck={(sound) => alertSettings.change({ sound })}
            />
            <Button
              size="sm"
              icon={Play}
              onClick={() => void playAlertSound().catch(toast.failed('No sound was played'))}
            >
              Play it now
            </Button>
          </span>
        </Fact>
      </Facts>
    </section>
  )
}

const Notifications = ({ account, isWanted }: { account: string; isWanted: boolean }) => {
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const state = useNotificationState(isWanted)
  const turnOn = async () => {
    setFailure(null)
    setIsBusy(true)
    try {
      await turnOnNotifications(account)
    } catch (error) {
      setFailure(problemOf(error).message)
    }
    setIsBusy(false)
  }
  return (
    <>
      <span className="inline-flex flex-wrap items-center gap-2">
        {state.is === 'on' && (
          <>
            On{' '}
            <Button size="sm" onClick={() => alertSettings.change({ notifications: false })}>
              Turn off
            </Button>
          </>
        )}
        {state.is === 'impossible' && <span className="text-muted">Not available. {state.why}</span>}
        {(state.is === 'off' || state.is === 'refused') && (
          <Button size="sm" icon={BellRing} busy={isBusy} onClick={() => void turnOn()}>
            Turn on notifications
          </Button>
        )}
      </span>
      {(failure !== null || (isWanted && state.is === 'refused')) && (
        <p role="alert" className="mt-1 text-sm text-danger">
          No notifications are shown. {failure ?? ('why' in state && state.why)}
        </p>
      )}
    </>
  )
}

/** The server cannot tell what the browser allows, so the first paint shows what most do. */
const useNotificationState = (isWanted: boolean): NotificationState => {
  const [state, setState] = useState<NotificationState>({ is: 'off' })
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const look = () => setState(notificationState(isWanted))
    look()
    // Somebody may take the leave back, beside the address.
    void navigator.permissions?.query({ name: 'notifications' }).then(
      (leave) => signal.aborted || leave.addEventListener('change', look, { signal }),
      () => undefined,
    )
    return () => leaving.abort()
  }, [isWanted])
  return state
}

/** What is told outside of the console. */
export const WebhookHealth = () => {
  const { data } = useQuery(alertQueries.health())
  return (
    <section aria-labelledby="webhook" className="space-y-2">
      <h2 id="webhook" className="text-lg font-medium">
        Webhook
      </h2>
      {data && <Webhook webhook={data.webhook} />}
    </section>
  )
}

const Webhook = ({ webhook: { host, watches_alone, deliveries } }: Pick<AlertHealth, 'webhook'>) => {
  if (host === null)
    return (
      <p className="text-muted">
        None. Start the console with <code className="font-mono text-text">DEVDECK_WEBHOOK_URL</code> set to tell a chat
        or a pager, with no page open as well.
      </p>
    )
  return (
    <>
      <p className="text-muted">
        Alerts are told to <VisibleText max={100}>{host}</VisibleText>,{' '}
        {watches_alone
          ? 'with no page open as well.'
          : 'while a page of this account is open: the console has no key of its own for it (DEVDECK_WEBHOOK_API_KEY).'}
      </p>
      {deliveries.length === 0 ? (
        <p className="text-muted">Nothing was sent since the console started. “Test alert” sends one.</p>
      ) : (
        <>
          <p className="text-sm text-muted">
            The last {Math.min(deliveries.length, shownDeliveries)} of {deliveries.length} deliveries kept
          </p>
          <ul>
            {deliveries.slice(0, shownDeliveries).map((delivery) => (
              <Delivery key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        </>
      )}
    </>
  )
}

const shownDeliveries = 8

const Delivery = ({
  delivery: { event, n_alerts, at_ms, attempts, delivered, answer },
}: {
  delivery: WebhookDelivery
}) => (
  <li className="flex flex-wrap items-center gap-x-3 border-b border-line py-1 text-sm">
    <Badge tone={delivered === null ? 'progress' : delivered ? 'ok' : 'danger'}>
      {delivered === null ? 'Trying' : delivered ? 'Delivered' : 'Failed'}
    </Badge>
    <span className="font-mono">{event}</span>
    {n_alerts > 1 && <span className="text-muted">{n_alerts} alerts</span>}
    <span className="text-muted">
      {answer}, {formatCountOf(attempts, 'attempt')}
    </span>
    <RelativeTime ms={at_ms} className="ml-auto text-muted" />
  </li>
)
