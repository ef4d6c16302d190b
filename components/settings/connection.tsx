'use client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { alertQueries } from '#components/alerts/queries.ts'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { LiveBadge } from '#components/ui/live-badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { fetchConsoleJson } from '#lib/browser/api/console-api.ts'
import type { ConnectionView } from '#lib/protocol/connection.ts'
import type { SessionView } from '#lib/protocol/session.ts'

/** The console's view of its service; `page_ms` is the page's own round trip to the console. */
const connectionQuery = () =>
  queryOptions({
    queryKey: ['connection', 'now'],
    queryFn: async ({ signal }): Promise<ConnectionView & { page_ms: number }> => {
      const startedMs = performance.now()
      const view = await fetchConsoleJson<ConnectionView>('/api/connection', signal)
      const tookMs = performance.now() - startedMs
      return { ...view, page_ms: Math.max(0, tookMs - ('took_ms' in view.upstream ? view.upstream.took_ms : 0)) }
    },
    staleTime: 0,
    refetchInterval: 5_000,
  })

export const Connection = ({ session: { account, service } }: { session: SessionView }) => {
  const query = useQuery(connectionQuery())
  const { data: feed } = useQuery(alertQueries.feed())
  const { data, error } = query
  const { state, sinceMs } = feed.health
  return (
    <section aria-labelledby="connection" className="min-w-0 space-y-3">
      <h2 id="connection" className="text-lg font-medium">
        Connection
      </h2>
      {error && <ErrorState compact title="The console is not responding" error={error} query={query} />}
      <Facts>
        <Fact label="Service" className="font-mono break-all">
          {service.url}
        </Fact>
        <Fact label="Service type">{service.embedded ? 'Local' : 'External (DEVDECK_SERVICE_URL)'}</Fact>
        <Fact label="Account">
          <VisibleText max={80}>{account.name}</VisibleText> <CopyableId value={account.id} className="text-muted" />
        </Fact>
        <Fact label="API key">
          <Key data={data} />
        </Fact>
        <Fact label="Console version">{data ? data.console_version : loading}</Fact>
        <Fact label="Service version">{data ? <Version upstream={data.upstream} /> : loading}</Fact>
        <Fact label="Operations">
          <TextLink href={paths.service()}>What this service offers</TextLink>
        </Fact>
        <Fact label="Page to console" className="tabular">
          {data ? `${Math.round(data.page_ms)} ms` : loading}
        </Fact>
        <Fact label="Console to service" className="tabular">
          {data ? <Latency upstream={data.upstream} /> : loading}
        </Fact>
        <Fact label="Live connection">
          <span className="inline-flex flex-wrap items-center gap-2">
            <LiveBadge state={state} what="the live connection" />
            {state !== 'connecting' && (
              <span>
                since <RelativeTime ms={sinceMs} />
              </span>
            )}
          </span>
        </Fact>
      </Facts>
      <p className="text-sm text-muted">Refreshes every 5 seconds</p>
    </section>
  )
}

const loading = <span className="text-muted">Loading…</span>

const Key = ({ data }: { data: ConnectionView | undefined }) => {
  if (!data) return loading
  if (data.key_tail === '') return 'Hidden: too short to show its last characters'
  return (
    <>
      Ends in <code className="font-mono">{data.key_tail}</code>
      <span className="text-muted">; the rest never leaves the console's server</span>
    </>
  )
}

const Version = ({ upstream }: Pick<ConnectionView, 'upstream'>) => {
  if ('problem' in upstream) return 'Unknown: the service is not responding'
  return upstream.version === null ? 'Not reported' : <VisibleText max={40}>{upstream.version}</VisibleText>
}

const Latency = ({ upstream }: Pick<ConnectionView, 'upstream'>) =>
  'problem' in upstream ? <span className="text-danger">{upstream.detail}</span> : `${Math.round(upstream.took_ms)} ms`
