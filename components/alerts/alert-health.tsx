'use client'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { LiveState } from '#components/ui/live-badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf, formatDurationMs } from '#lib/browser/format.ts'
import type { AlertStreamHealth, PollHealth } from '#lib/protocol/alerts.ts'
import { streamState } from './header-status.tsx'
import { alertQueries } from './queries.ts'

/** Health of both connections: from the service to the console, and from the console to the page. */
export const StreamHealth = () => {
  const query = useQuery(alertQueries.health())
  const { data: feed } = useQuery(alertQueries.feed())
  const { data, refetch } = query
  const state = streamState(feed.health)
  // Keeps the console's state in step with this page's.
  useEffect(() => {
    if (state !== 'connecting') void refetch()
  }, [state, refetch])
  return (
    <section aria-labelledby="stream" className="space-y-2">
      <h2 id="stream" className="text-lg font-medium">
        Eviction stream
      </h2>
      <p className="text-muted">The service announces evictions. Delivery is best effort.</p>
      {!data && query.error && (
        <ErrorState compact title="The state of the stream is unknown" error={query.error} query={query} />
      )}
      <Facts>
        <Fact label="This page">
          <LiveState health={{ ...feed.health, state }} what="the eviction stream" />
        </Fact>
        {data && <Stream stream={data.stream} />}
        {data && <Polling looks={data.looks} />}
        {data?.unwritten != null && (
          <Fact label="History">
            <span className="text-danger">Alerts can't be saved: {data.unwritten}.</span>
            <p className="text-muted">They are still announced, but will be lost if the console restarts.</p>
          </Fact>
        )}
      </Facts>
    </section>
  )
}

const streamLabels: Record<AlertStreamHealth['state'], string> = {
  connecting: 'Connecting since',
  live: 'Connected',
  retrying: 'Reconnecting; lost',
  refused: 'Refused by the service',
}

const Stream = ({ stream }: { stream: AlertStreamHealth }) => (
  <>
    <Fact label="Service">
      {streamLabels[stream.state]} <RelativeTime ms={stream.since_ms} />
    </Fact>
    <Fact label="Last heartbeat">
      <Time ms={stream.last_heard_ms} />
    </Fact>
    <Fact label="Last event">
      <Time ms={stream.last_event_ms} />
    </Fact>
    {stream.unreadable > 0 && (
      <Fact label="Invalid events">
        <span className="text-danger">
          {formatCountOf(stream.unreadable, 'event')} could not be read and may be evictions. Contact the operator of
          the service.
        </span>
        {stream.unreadable_reason !== null && (
          <p className="text-muted">
            Latest error: <VisibleText max={200}>{stream.unreadable_reason}</VisibleText>
          </p>
        )}
      </Fact>
    )}
    <Fact label="Reconnects">{formatCount(stream.reconnects)}</Fact>
    {stream.gaps.length > 0 && (
      <Fact label="Recent gaps">
        <ul>
          {stream.gaps.slice(0, 5).map(({ from_ms, to_ms }) => (
            <li key={from_ms}>
              {formatDurationMs(to_ms - from_ms)}, ended <RelativeTime ms={to_ms} />
            </li>
          ))}
        </ul>
      </Fact>
    )}
  </>
)

const Polling = ({ looks }: { looks: PollHealth }) => (
  <Fact label="Polling">
    Expirations, failures and followed jobs every {formatDurationMs(looks.every_ms)}; last response{' '}
    <Time ms={looks.looked_ms} />
    {looks.problem !== null && <span className="text-danger">. Failing: {looks.problem}</span>}
    <p className="text-muted">
      Expiration known for {formatCount(looks.watched)} of {formatCount(looks.running)}
      {looks.has_more && '+'} running devboxes; {formatCountOf(looks.followed_jobs, 'followed job')}
    </p>
  </Fact>
)

const Time = ({ ms }: { ms: number | null }) =>
  ms === null ? <span className="text-muted">None yet</span> : <RelativeTime ms={ms} />
