'use client'
import { useQuery } from '@tanstack/react-query'
import { InlineError } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { formatCount, formatDurationMs } from '#lib/console/frame/format.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { devboxUse } from '#lib/console/queries/logs.ts'
import { type Devbox, hasEnded } from '#lib/contract/devboxes.ts'
import { UseCharts } from '../use-charts.tsx'
import { useFollowed } from '../use-followed.ts'

/** What a devbox has used so far, and what it uses now. */
export const Usage = ({ devbox: { id, status } }: { devbox: Devbox }) => {
  const { samples, dropped, health, hasEnded: isRead } = useFollowed(id, devboxUse)
  const { data: usage, error } = useQuery(devboxQueries.usage(id, hasEnded(status)))
  return (
    <div className="space-y-4">
      {samples.length > 0 ? (
        <UseCharts samples={samples} />
      ) : (
        <p className="text-muted">
          {health.state === 'live' || isRead
            ? 'The log of this devbox tells nothing of what it uses.'
            : 'Reading what the log of this devbox tells.'}
        </p>
      )}
      {dropped > 0 && <p className="text-sm text-muted">The first {formatCount(dropped)} samples are not kept here.</p>}
      {error && !usage && <InlineError error={error} />}
      {usage && (
        <Facts>
          <Fact label="Active for">
            {formatDurationMs(usage.total_active_seconds * 1000)} of{' '}
            {formatDurationMs(usage.total_elapsed_seconds * 1000)} since it was created
          </Fact>
          <Fact label="CPU given">{formatCount(usage.vcpu_seconds)} vCPU seconds</Fact>
          <Fact label="Memory given">{formatCount(usage.memory_gb_seconds)} GB seconds</Fact>
          <Fact label="Disk given">{formatCount(usage.disk_gb_seconds)} GB seconds</Fact>
        </Facts>
      )}
    </div>
  )
}
