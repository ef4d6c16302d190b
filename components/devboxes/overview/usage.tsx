'use client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { formatCount, formatElapsedMs } from '#lib/browser/format.ts'
import { type Devbox, type DevboxUsage, hasEnded } from '#lib/contract/devboxes.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import { devboxUsage, type UsageSample } from '../log/resource-usage.ts'
import { UsageCharts } from '../log/usage-charts.tsx'
import { useDevboxLog } from '../log/use-devbox-log.tsx'

export const Usage = ({ devbox: { id, status, launch_parameters } }: { devbox: Devbox }) => {
  const { samples, dropped, health, hasEnded: logHasEnded } = useDevboxLog(id, devboxUsage)
  const [range, setRange] = useState('0')
  const { data: usage, error } = useQuery(devboxQueries.usage(id, hasEnded(status)))
  return (
    <div className="space-y-4">
      {samples.length > 0 ? (
        <>
          <SelectField label="Show" className="w-56" value={range} onPick={setRange} options={ranges} />
          <UsageCharts samples={within(samples, Number(range))} limits={resourcesOf(launch_parameters)} />
        </>
      ) : (
        <p className="text-muted">
          {health.state === 'live' || logHasEnded ? 'This devbox reports no usage.' : 'Loading usage.'}
        </p>
      )}
      {dropped > 0 && <p className="text-sm text-muted">The oldest {formatCount(dropped)} samples are not shown.</p>}
      {error && !usage && <InlineError error={error} />}
      {usage && (
        <Facts>
          <Fact label="Active for">{activeFor(usage)}</Fact>
          <Fact label="CPU allocated">{formatCount(usage.vcpu_seconds)} vCPU seconds</Fact>
          <Fact label="Memory allocated">{formatCount(usage.memory_gb_seconds)} GB seconds</Fact>
          <Fact label="Disk allocated">{formatCount(usage.disk_gb_seconds)} GB seconds</Fact>
        </Facts>
      )}
    </div>
  )
}

/** The service reports whole seconds, so 0 means less than one. */
export const activeFor = ({ total_active_seconds: active, total_elapsed_seconds: elapsed }: DevboxUsage): string =>
  `${elapsed === 0 ? '' : `${wholeSeconds(active)} of `}${wholeSeconds(elapsed)} since creation`

const wholeSeconds = (seconds: number) => (seconds === 0 ? 'less than 1 s' : formatElapsedMs(seconds * 1000))

const ranges = [
  { value: '0', label: 'All data' },
  { value: '900000', label: 'Last 15 minutes' },
  { value: '3600000', label: 'Last hour' },
  { value: '21600000', label: 'Last 6 hours' },
]

const within = (samples: readonly UsageSample[], ms: number): readonly UsageSample[] => {
  const fromMs = (samples.at(-1)?.atMs ?? 0) - ms
  return ms === 0 ? samples : samples.filter(({ atMs }) => atMs >= fromMs)
}
