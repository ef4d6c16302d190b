import { Scrolled } from '#components/ui/scrolled.tsx'
import { formatExact, formatTimeOfDay } from '#components/ui/time-text.ts'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import type { Resources } from '#lib/contract/launch-parameters.ts'
import type { UsageSample } from './resource-usage.ts'

interface Measure {
  title: string
  figure: (sample: UsageSample) => number | null
  limitOf?: (limits: Resources) => number
  format: (value: number) => string
}

const gibibyte = 2 ** 30

const measures: readonly Measure[] = [
  {
    title: 'CPU',
    figure: ({ cpuCores }) => cpuCores,
    limitOf: ({ cpuCores }) => cpuCores,
    format: (cores) => `${cores.toFixed(cores < 0.1 ? 3 : 2)} cores`,
  },
  {
    title: 'Memory',
    figure: ({ memoryBytes }) => memoryBytes,
    limitOf: ({ memoryGb }) => memoryGb * gibibyte,
    format: formatBytes,
  },
  {
    // Free space of the shared file system, which may exceed the disk of one devbox.
    title: 'Host disk free',
    figure: ({ diskFreeBytes }) => diskFreeBytes,
    format: formatBytes,
  },
]

interface UsageChartsProps {
  samples: readonly UsageSample[]
  limits?: Resources | undefined
}

export const UsageCharts = ({ samples, limits }: UsageChartsProps) => (
  <div className="space-y-3">
    <div className="grid gap-4 sm:grid-cols-3">
      {measures.map((measure) => (
        <Chart key={measure.title} measure={measure} samples={samples} limit={limits && measure.limitOf?.(limits)} />
      ))}
    </div>
    <SampleTable samples={samples} />
  </div>
)

const [width, top, bottom] = [240, 6, 74]
/** A longer gap breaks the line: the devbox may not have been running. */
const gapMs = 120_000

interface ChartProps extends Pick<UsageChartsProps, 'samples'> {
  measure: Measure
  limit: number | undefined
}

const Chart = ({ measure: { title, figure, format }, samples, limit }: ChartProps) => {
  const reported = samples.flatMap((sample) => {
    const value = figure(sample)
    return value === null ? [] : [{ atMs: sample.atMs, value }]
  })
  const [first, last] = [reported[0], reported.at(-1)]
  if (!first || !last)
    return (
      <figure className="min-w-0">
        <figcaption className="font-medium">{title}</figcaption>
        <p className="text-sm text-muted">Not reported yet</p>
      </figure>
    )
  const highest = Math.max(...reported.map(({ value }) => value))
  // A service that doesn't enforce the limit may report more.
  const axisMax = Math.max(limit ?? 0, highest) || 1
  const spanMs = last.atMs - first.atMs || 1
  const x = (atMs: number) => 2 + ((atMs - first.atMs) / spanMs) * (width - 4)
  const y = (value: number) => bottom - (value / axisMax) * (bottom - top)
  const line = reported
    .map(({ atMs, value }, at) => {
      const before = reported[at - 1]
      const isJoined = before !== undefined && atMs - before.atMs <= gapMs
      return `${isJoined ? 'L' : 'M'}${x(atMs).toFixed(1)} ${y(value).toFixed(1)}`
    })
    .join('')
  return (
    <figure className="min-w-0">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-2">
        <span className="font-medium">{title}</span>
        <span className="tabular text-sm">
          {format(last.value)}
          {limit !== undefined && ` of ${format(limit)}`}
        </span>
      </figcaption>
      <p className="tabular text-xs text-muted">{format(axisMax)}</p>
      <svg
        viewBox={`0 0 ${width} ${bottom + 4}`}
        className="w-full"
        role="img"
        aria-label={`${title} from 0 to ${format(axisMax)}: latest ${format(last.value)}, highest ${format(highest)}, ${formatCount(reported.length)} samples`}
      >
        <line x1={0} x2={width} y1={top} y2={top} className="stroke-(--line)" strokeDasharray="3 3" />
        <line x1={0} x2={width} y1={bottom + 0.5} y2={bottom + 0.5} className="stroke-(--line-strong)" />
        <path d={line} fill="none" className="stroke-(--accent) stroke-[1.5]" />
        <circle cx={x(last.atMs)} cy={y(last.value)} r={2.5} className="fill-(--accent)" />
      </svg>
      <p className="tabular text-xs text-muted">0</p>
      <p className="tabular flex flex-wrap justify-between gap-x-2 text-xs text-muted" suppressHydrationWarning>
        <span>{formatTimeOfDay(first.atMs).slice(0, 5)}</span>
        <span>{formatTimeOfDay(last.atMs).slice(0, 5)}</span>
      </p>
    </figure>
  )
}

const rowsShown = 120

const SampleTable = ({ samples }: { samples: readonly UsageSample[] }) => {
  const rows = samples.slice(-rowsShown).reverse()
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-muted">
        Data: {formatCount(rows.length)} of {formatCount(samples.length)} samples, newest first
      </summary>
      <Scrolled className="mt-2 max-h-64 overflow-auto rounded-md border border-line">
        <table className="tabular w-full">
          <caption className="sr-only">CPU, memory and free disk, newest first</caption>
          <thead className="sticky top-0 bg-surface-1 text-left">
            <tr>
              <th className="px-2 py-1 font-medium">Time</th>
              {measures.map(({ title }) => (
                <th key={title} className="px-2 py-1 text-right font-medium">
                  {title}
                </th>
              ))}
              <th className="px-2 py-1 text-right font-medium">Processes</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((sample, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two samples may share a timestamp
              <tr key={at} className="border-t border-line">
                <td className="px-2 py-0.5 whitespace-nowrap" title={formatExact(sample.atMs)}>
                  {formatTimeOfDay(sample.atMs).slice(0, 8)}
                </td>
                {measures.map(({ title, figure, format }) => {
                  const value = figure(sample)
                  return (
                    <td key={title} className="px-2 py-0.5 text-right whitespace-nowrap">
                      {value === null ? 'Not reported' : format(value)}
                    </td>
                  )
                })}
                <td className="px-2 py-0.5 text-right">{sample.processes ?? 'Not reported'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </details>
  )
}
