'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { BellRing, ClipboardList, Clock, History, Play, Siren, TimerOff } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { clockOffsetMs } from '#lib/client/clock.ts'
import { alertKindLabels } from '#lib/protocol/alert-labels.ts'
import { type Alert, hasHappened } from '#lib/protocol/alerts.ts'
import { alertName, clockError } from './alert-feed.ts'
import { StreamHealth } from './alert-health.tsx'
import { alertSettings, playAlertSound } from './alert-settings.ts'
import { AcknowledgedBy, AlertStateBadge } from './alert-state.tsx'
import { type NotificationState, notificationState, turnOnNotifications } from './notifications.ts'
import { PendingAlerts } from './pending-alerts.tsx'
import { alertMutations, alertQueries } from './queries.ts'
import { Receivers } from './receivers/receivers.tsx'
import { Silences } from './silences.tsx'

const SilenceDialog = dynamic(async () => (await import('./silences.tsx')).SilenceDialog)
const PushAlerts = dynamic(async () => (await import('./push/push-alerts.tsx')).PushAlerts)
const DrillDialog = dynamic(async () => (await import('./drill-dialog.tsx')).DrillDialog)

interface EvictionsPageProps {
  linkedId: string | undefined
  /** Only the embedded local service can schedule and cancel evictions. */
  isLocal: boolean
  account: string
}

export const EvictionsPage = ({ linkedId, isLocal, account }: EvictionsPageProps) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const isLoaded = feed.health.state !== 'connecting'
  const [silencing, setSilencing] = useState<Record<string, string>>()
  const [isDrilling, setIsDrilling] = useState(false)
  const test = useMutation({ ...alertMutations.test(), onError: toast.failed("Couldn't create a test alert") })
  const clock = useClock(() => clockError(clockOffsetMs()), null)
  return (
    <>
      <PageHeader
        title="Evictions"
        actions={
          <>
            <ButtonLink href={paths.evictionHistory()} icon={History}>
              History
            </ButtonLink>
            <ButtonLink href={paths.shiftReport()} icon={ClipboardList}>
              Shift report
            </ButtonLink>
            <Button icon={BellRing} needs="/api/alerts" busy={test.isPending} onClick={() => test.mutate()}>
              Test alert
            </Button>
            <Button
              icon={Siren}
              needs="/api/alerts"
              disabledReason={isLocal ? null : 'Only the local service supports drills'}
              onClick={() => setIsDrilling(true)}
            >
              Start drill
            </Button>
          </>
        }
      />
      {clock !== null && (
        <Banner
          tone="neutral"
          icon={Clock}
          role="status"
          className="mb-4 rounded-md"
          title={`This computer's clock is ${clock}`}
        >
          Devdeck uses the service's clock, so the times and countdowns shown are correct.
        </Banner>
      )}
      {linkedId !== undefined && isLoaded && !feed.open.some(({ id }) => id === linkedId) && (
        <LinkedAlert id={linkedId} />
      )}
      {feed.open.length > 0 ? (
        <PendingAlerts linkedId={linkedId} isLocal={isLocal} onSilence={setSilencing} />
      ) : (
        <EmptyState icon={TimerOff} title={isLoaded ? 'No evictions pending' : 'Loading evictions'}>
          When the service schedules an eviction, it appears here and on every page with a countdown. At the deadline
          the devbox is suspended: its processes end, its disk is kept.
        </EmptyState>
      )}
      <ClosedAlerts alerts={feed.closed} />
      <div className="mt-10 grid grid-cols-1 gap-x-12 gap-y-8 lg:grid-cols-2">
        <div className="space-y-8">
          <Silences onAdd={() => setSilencing({})} />
          <BrowserAlerts account={account} />
          <PushAlerts />
        </div>
        <StreamHealth />
      </div>
      <Receivers />
      {silencing && <SilenceDialog metadata={silencing} onClose={() => setSilencing(undefined)} />}
      {isDrilling && <DrillDialog onClose={() => setIsDrilling(false)} />}
    </>
  )
}

const shownClosed = 5

const ClosedAlerts = ({ alerts }: { alerts: readonly Alert[] }) =>
  alerts.length > 0 && (
    <section aria-labelledby="closed" className="mt-6 space-y-2">
      <h2 id="closed" className="text-lg font-medium">
        Closed since you opened this page
      </h2>
      <ul>
        {alerts.slice(0, shownClosed).map((alert) => (
          <li key={alert.id} className="flex min-h-9 flex-wrap items-center gap-x-3 border-b border-line py-1">
            <VisibleText max={60} className="min-w-0 font-medium">
              {alertName(alert)}
            </VisibleText>
            <AlertStateBadge alert={alert} />
            {alert.closed_ms !== null && <RelativeTime ms={alert.closed_ms} className="ml-auto text-muted" />}
          </li>
        ))}
      </ul>
      {alerts.length > shownClosed && (
        <p className="text-muted">
          Showing {shownClosed} of {alerts.length}. See History for the rest.
        </p>
      )}
    </section>
  )

/** The outcome of an alert that is no longer pending when its link is opened. */
export const LinkedAlert = ({ id }: { id: string }) => {
  // Alert ids start with the id of the devbox or job.
  const query = useQuery(alertQueries.ofDevbox(id.split(/[@:]/)[0] ?? ''))
  const alert = query.data?.find((each) => each.id === id)
  return (
    <section aria-labelledby="linked" className="mb-6 space-y-2">
      <h2 id="linked" className="text-lg font-medium">
        Linked alert
      </h2>
      {query.error && !query.data && (
        <ErrorState compact title="The alert could not be loaded" error={query.error} query={query} />
      )}
      {query.data && !alert && (
        <p className="text-muted">
          Alert not found. It may belong to another account or console, or have been removed from the history.
        </p>
      )}
      {alert && (
        <p className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-1">
          <VisibleText max={60} className="min-w-0 font-medium">
            {alertName(alert)}
          </VisibleText>
          <span className="text-muted">
            {alertKindLabels[alert.kind]}, {hasHappened(alert) ? '' : 'deadline '}
            <RelativeTime ms={alert.deadline_ms} />
          </span>
          <AlertStateBadge alert={alert} />
          <AcknowledgedBy alert={alert} />
          {alert.acknowledged_ms !== null && <RelativeTime ms={alert.acknowledged_ms} className="text-muted" />}
        </p>
      )}
    </section>
  )
}

const BrowserAlerts = ({ account }: { account: string }) => {
  const settings = useSyncExternalStore(alertSettings.subscribe, alertSettings.read, alertSettings.onServer)
  return (
    <section aria-labelledby="browser" className="space-y-2">
      <h2 id="browser" className="text-lg font-medium">
        This browser
      </h2>
      <p className="text-muted">
        Each alert is announced in one tab, with reminders 10 and 2 minutes before the deadline. With no tab open, only
        push and{' '}
        <a href="#receivers" className="text-accent underline">
          receivers
        </a>{' '}
        announce alerts.
      </p>
      <Facts>
        <Fact label="Notifications">
          <Notifications account={account} isEnabled={settings.notifications} />
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
              onClick={() => void playAlertSound().catch(toast.failed("Couldn't play the sound"))}
            >
              Test sound
            </Button>
          </span>
        </Fact>
      </Facts>
    </section>
  )
}

const Notifications = ({ account, isEnabled }: { account: string; isEnabled: boolean }) => {
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const state = useNotificationState(isEnabled)
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
        {state.is === 'unavailable' && <span className="text-muted">Not available. {state.why}</span>}
        {(state.is === 'off' || state.is === 'blocked') && (
          <Button size="sm" icon={BellRing} busy={isBusy} onClick={() => void turnOn()}>
            Turn on notifications
          </Button>
        )}
      </span>
      {(failure !== null || (isEnabled && state.is === 'blocked')) && (
        <p role="alert" className="mt-1 text-sm text-danger">
          Notifications aren't working. {failure ?? ('why' in state && state.why)}
        </p>
      )}
    </>
  )
}

/** Starts as "off" because the server can't know what the browser allows. */
const useNotificationState = (isEnabled: boolean): NotificationState => {
  const [state, setState] = useState<NotificationState>({ is: 'off' })
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const update = () => setState(notificationState(isEnabled))
    update()
    // Permission can be revoked in the browser's site settings at any time.
    void navigator.permissions?.query({ name: 'notifications' }).then(
      (permission) => signal.aborted || permission.addEventListener('change', update, { signal }),
      () => undefined,
    )
    return () => leaving.abort()
  }, [isEnabled])
  return state
}
