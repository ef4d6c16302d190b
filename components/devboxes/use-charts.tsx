import { Scrolled } from '#components/ui/scrolled.tsx'
import { formatExact, formatTimeOfDay } from '#components/ui/time-text.ts'
import { formatBytes } from '#lib/console/frame/format.ts'
import type { UseSample } from '#lib/console/live/resource-use.ts'
import { formatCount } from '#lib/language/translate.ts'

interface Measure {
  title: string
  of: (sample: UseSample) => number | null
  words: (value: number) => string
}

const measures: readonly Measure[] = [
  { title: 'CPU', of: ({ cpuCores }) => cpuCores, words: (cores) => `${cores.toFixed(cores < 0.1 ? 3 : 2)} cores` },
  { title: 'Memory', of: ({ memoryBytes }) => memoryBytes, words: formatBytes },
  { title: 'Disk free', of: ({ diskFreeBytes }) => diskFreeBytes, words: formatBytes },
]

/** CPU, memory and free disk over time, each as a picture; one table has the same numbers. */
export const UseCharts = ({ samples }: { samples: readonly UseSample[] }) => (
  <div className="space-y-3">
    <div className="grid gap-4 sm:grid-cols-3">
      {measures.map((measure) => (
        <Chart key={measure.title} measure={measure} samples={samples} />
      ))}
    </div>
    <SampleTable samples={samples} />
  </div>
)

const [width, top, bottom] = [240, 6, 74]
/** Samples further apart than this are not joined: in between the devbox did not run, or nobody looked. */
const gapMs = 120_000

const Chart = ({ measure: { title, of, words }, samples }: { measure: Measure; samples: readonly UseSample[] }) => {
  const told = samples.flatMap((sample) => {
    const value = of(sample)
    return value === null ? [] : [{ atMs: sample.atMs, value }]
  })
  const [first, last] = [told[0], told.at(-1)]
  if (!first || !last)
    return (
      <figure className="min-w-0">
        <figcaption className="font-medium">{title}</figcaption>
        <p className="text-sm text-muted">Not told yet: it takes two samples, half a minute apart.</p>
      </figure>
    )
  const most = told.reduce((highest, { value }) => Math.max(highest, value), 0) || 1
  const spanMs = last.atMs - first.atMs || 1
  const x = (atMs: number) => 2 + ((atMs - first.atMs) / spanMs) * (width - 4)
  const y = (value: number) => bottom - (value / most) * (bottom - top)
  const line = told
    .map(({ atMs, value }, at) => {
      const before = told[at - 1]
      const isJoined = before !== undefined && atMs - before.atMs <= gapMs
      return `${isJoined ? 'L' : 'M'}${x(atMs).toFixed(1)} ${y(value).toFixed(1)}`
    })
    .join('')
  return (
    <figure className="min-w-0">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-2">
        <span className="font-medium">{title}</span>
        <span className="tabular text-sm">last {words(last.value)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${bottom + 4}`}
        className="w-full"
        role="img"
        aria-label={`${title}: ${words(last.value)} at the end, ${words(most)} at most, ${formatCount(told.length)} samples`}
      >
        <line x1={0} x2={width} y1={top} y2={top} className="stroke-(--line)" strokeDasharray="3 3" />
        <line x1={0} x2={width} y1={bottom + 0.5} y2={bottom + 0.5} className="stroke-(--line-strong)" />
        <path d={line} fill="none" className="stroke-(--accent) stroke-[1.5]" />
        <circle cx={x(last.atMs)} cy={y(last.value)} r={2.5} className="fill-(--accent)" />
      </svg>
      <p className="tabular flex flex-wrap justify-between gap-x-2 text-xs text-muted" suppressHydrationWarning>
        <span>{formatTimeOfDay(first.atMs).slice(0, 5)}</span>
        <span>0 to {words(most)}</span>
        <span>{formatTimeOfDay(last.atMs).slice(0, 5)}</span>
      </p>
    </figure>
  )
}

const rowsShown = 120

const SampleTable = ({ samples }: { samples: readonly UseSample[] }) => {
  const rows = samples.slice(-rowsShown).reverse()
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-muted">
        The numbers: {formatCount(rows.length)} of {formatCount(samples.length)} samples, the newest first
      </summary>
      <Scrolled className="mt-2 max-h-64 overflow-auto rounded-md border border-line">
        <table className="tabular w-full">
          <caption className="sr-only">CPU, memory and free disk, the newest first</caption>
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
              // biome-ignore lint/suspicious/noArrayIndexKey: two samples may have one time
              <tr key={at} className="border-t border-line">
                <td className="px-2 py-0.5 whitespace-nowrap" title={formatExact(sample.atMs)}>
                  {formatTimeOfDay(sample.atMs).slice(0, 8)}
                </td>
                {measures.map(({ title, of, words }) => {
                  const value = of(sample)
                  return (
                    <td key={title} className="px-2 py-0.5 text-right whitespace-nowrap">
                      {value === null ? 'not told' : words(value)}
                    </td>
                  )
                })}
                <td className="px-2 py-0.5 text-right">{sample.processes ?? 'not told'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </details>
  )
}
