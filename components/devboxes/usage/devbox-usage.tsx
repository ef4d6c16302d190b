'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'next/navigation'
import { alertQueries } from '#components/alerts/queries.ts'
import { sessionQueries } from '#components/layout/session-queries.ts'
import { snapshotQueries } from '#components/snapshots/queries.ts'
import { InlineError } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { formatCount, formatElapsedMs } from '#lib/browser/format.ts'
import { type Devbox, hasEnded, type DevboxUsage as Totals } from '#lib/contract/devboxes.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import { useDevboxLog } from '../log/use-devbox-log.tsx'
import { devboxQueries } from '../queries.ts'
import { devboxUsage } from './resource-usage.ts'
import { UsageCharts } from './usage-charts.tsx'
import { evictionEvents, snapshotEvents, stateEvents } from './usage-window.ts'

const parameter = 'usage'

export const DevboxUsage = ({ devbox }: { devbox: Devbox }) => {
  const { id, status, launch_parameters } = devbox
  const { samples, dropped, commands, health, hasEnded: logHasEnded } = useDevboxLog(id, devboxUsage)
  const shown = useSearchParams().get(parameter) ?? ''
  const { data: totals, error } = useQuery(devboxQueries.usage(id, hasEnded(status)))
  const {
    rowsOf,
    refresh: _,
    ...list
  } = snapshotQueries.list({ devbox_id: id, limit: 100, include_total_count: false })
  const { data: snapshots } = useInfiniteQuery({ ...list, enabled: samples.length > 0 })
  const { data: alerts } = useQuery(alertQueries.ofDevbox(id))
  const { data: session } = useQuery(sessionQueries.get())
  // Only the local service's default size is known.
  const hasSize = launch_parameters.resource_size_request != null || session?.service.embedded === true
  const events = [
    ...stateEvents(devbox),
    ...commands,
    ...snapshotEvents(snapshots?.pages.flatMap(rowsOf) ?? []),
    ...evictionEvents(alerts ?? []),
  ]
  return (
    <div className="space-y-4">
      {samples.length > 0 ? (
        <UsageCharts
          samples={samples}
          events={events}
          limits={hasSize ? resourcesOf(launch_parameters) : undefined}
          shown={shown}
          onShow={show}
        />
      ) : (
        <p className="text-muted">
          {health.state === 'live' || logHasEnded ? 'No usage over time. The log has no samples.' : 'Loading usage…'}
        </p>
      )}
      {dropped > 0 && <p className="text-sm text-muted">The oldest {formatCount(dropped)} samples are not shown.</p>}
      {error && !totals && <InlineError error={error} />}
      {totals && (
        <Facts>
          <Fact label="Active for">{activeFor(totals)}</Fact>
          <Fact label="CPU allocated">{formatCount(totals.vcpu_seconds)} vCPU seconds</Fact>
          <Fact label="Memory allocated">{formatCount(totals.memory_gb_seconds)} GB seconds</Fact>
          <Fact label="Disk allocated">{formatCount(totals.disk_gb_seconds)} GB seconds</Fact>
        </Facts>
      )}
    </div>
  )
}

/** The window is part of the address, so that a link shows the same time. */
const show = (shown: string) => {
  const url = new URL(location.href)
  if (shown === '') url.searchParams.delete(parameter)
  else url.searchParams.set(parameter, shown)
  history.replaceState(null, '', url)
}

/** The service reports whole seconds, so 0 means less than one. */
export const activeFor = ({ total_active_seconds: active, total_elapsed_seconds: elapsed }: Totals): string =>
  `${elapsed === 0 ? '' : `${wholeSeconds(active)} of `}${wholeSeconds(elapsed)} since creation`

const wholeSeconds = (seconds: number) => (seconds === 0 ? 'less than 1 s' : formatElapsedMs(seconds * 1000))
