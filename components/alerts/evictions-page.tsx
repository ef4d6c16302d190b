'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { BellRing, Clock, History, Siren, TimerOff } from 'lucide-react'
import { useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { alertName, clockError } from '#lib/browser/alerts/alert-feed.ts'
import { alertMutations, alertQueries } from '#lib/browser/queries/alerts.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { BrowserAlerts, StreamHealth, WebhookHealth } from './alert-health.tsx'
import { AlertStateBadge } from './alert-state.tsx'
import { LinkedAlert } from './linked-alert.tsx'
import { PendingAlerts } from './pending-alerts.tsx'
import { Silences } from './silences.tsx'

const SilenceDialog = loadOnUse(async () => (await import('./silences.tsx')).SilenceDialog)
const DrillDialog = loadOnUse(async () => (await import('./drill-dialog.tsx')).DrillDialog)

interface EvictionsPageProps {
  /** The alert that the address names. */
  shownId: string | undefined
  /** Whether the service is the console's own, which can be asked for an eviction. */
  isLocal: boolean
  /** Whose page a notification leads back to. */
  account: string
}

export const EvictionsPage = ({ shownId, isLocal, account }: EvictionsPageProps) => {
  const { data: feed } = useQuery(alertQueries.feed())
  // Until the page has heard of what is pending, nothing is known to be over.
  const isKnown = feed.health.state !== 'connecting'
  const [silencing, setSilencing] = useState<Record<string, string>>()
  const [isDrilling, setIsDrilling] = useState(false)
  const test = useMutation(alertMutations.test())
  return (
    <>
      <PageHeader
        title="Evictions"
        actions={
          <>
            <ButtonLink href={paths.evictionHistory()} icon={History}>
              History
            </ButtonLink>
            <Button
              icon={BellRing}
              busy={test.isPending}
              onClick={() =>
                test.mutate(undefined, {
                  onError: toast.failed('No test alert was made'),
                })
              }
            >
              Test alert
            </Button>
            <Button
              icon={Siren}
              disabledReason={isLocal ? null : 'Only the local service can be asked for an eviction'}
              onClick={() => setIsDrilling(true)}
            >
              Start drill
            </Button>
          </>
        }
      />
      <WrongClock error={clockError(feed)} />
      {shownId !== undefined && isKnown && !feed.open.some(({ id }) => id === shownId) && <LinkedAlert id={shownId} />}
      {feed.open.length > 0 ? (
        <PendingAlerts shownId={shownId} isLocal={isLocal} onSilence={setSilencing} />
      ) : (
        <EmptyState
          icon={TimerOff}
          title={feed.health.state === 'connecting' ? 'Asking for evictions' : 'No evictions pending'}
        >
          A devbox that will be evicted is announced here and on every page, with the time that is left. At its deadline
          it is suspended: its disk stays, its processes end.
        </EmptyState>
      )}
      <OverLately alerts={feed.over} />
      <div className="mt-10 grid grid-cols-1 gap-x-12 gap-y-8 lg:grid-cols-2">
        <Silences onAdd={() => setSilencing({})} />
        <BrowserAlerts account={account} />
        <StreamHealth />
        <WebhookHealth />
      </div>
      {silencing && <SilenceDialog metadata={silencing} onClose={() => setSilencing(undefined)} />}
      {isDrilling && <DrillDialog onClose={() => setIsDrilling(false)} />}
    </>
  )
}

const WrongClock = ({ error }: { error: string | null }) =>
  error !== null && (
    <Banner
      tone="neutral"
      icon={Clock}
      role="status"
      className="mb-4 rounded-md"
      title={`This computer’s clock is ${error}`}
    >
      Alerts and time left go by the clock of the service, and are right. Ages (“5 min ago”) go by this computer’s, and
      are wrong until it is set.
    </Banner>
  )

/** What was over since the page was opened: nothing leaves the list without a word. */
const OverLately = ({ alerts }: { alerts: readonly Alert[] }) =>
  alerts.length > 0 && (
    <section aria-labelledby="over" className="mt-6 space-y-2">
      <h2 id="over" className="text-lg font-medium">
        Over since this page was opened
      </h2>
      <ul>
        {alerts.slice(0, shownOver).map((alert) => (
          <li key={alert.id} className="flex min-h-9 flex-wrap items-center gap-x-3 border-b border-line py-1">
            <VisibleText max={60} className="min-w-0 font-medium">
              {alertName(alert)}
            </VisibleText>
            <AlertStateBadge alert={alert} />
            {alert.closed_ms !== null && <RelativeTime ms={alert.closed_ms} className="ml-auto text-muted" />}
          </li>
        ))}
      </ul>
      {alerts.length > shownOver && (
        <p className="text-muted">
          {shownOver} of {alerts.length}; the history has all.
        </p>
      )}
    </section>
  )

const shownOver = 5
