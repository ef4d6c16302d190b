'use client'
import { ZoomOut } from 'lucide-react'
import { type PointerEvent, useId, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { formatExact, formatTimeOfDay } from '#components/ui/time-text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import type { Resources } from '#lib/contract/launch-parameters.ts'
import type { UsageSample } from './resource-usage.ts'
import {
  fitted,
  isWithin,
  minWindowMs,
  presets,
  statisticsOf,
  textOf,
  type UsageEvent,
  type Window,
  type WindowText,
  windowOf,
} from './usage-window.ts'

interface Measure {
  title: string
  figure: (sample: UsageSample) => number | null
  limitOf: (limits: Resources) => number
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
    title: 'Disk',
    figure: ({ diskUsedBytes }) => diskUsedBytes,
    limitOf: ({ diskGb }) => diskGb * gibibyte,
    format: formatBytes,
  },
]

interface UsageChartsProps {
  samples: readonly UsageSample[]
  events?: readonly UsageEvent[]
  limits?: Resources | undefined
  /** As in the address. */
  shown?: WindowText
  onShow?: (shown: WindowText) => void
}

/** CPU, memory and disk over one window of time, which dragging over a chart or the sliders narrow. */
export const UsageCharts = ({ samples, events = [], limits, shown = '', onShow }: UsageChartsProps) => {
  const [first, last] = [samples[0], samples.at(-1)]
  const [pointerMs, setPointerMs] = useState<number>()
  if (!first || !last) return null
  // Events just before the first sample, such as the start of the devbox, belong to the picture.
  const earliest = Math.min(...events.map(({ atMs }) => atMs).filter((atMs) => atMs > first.atMs - minWindowMs))
  const all = { fromMs: Math.min(first.atMs, earliest), toMs: Math.max(last.atMs, first.atMs + 1) }
  const window = windowOf(shown, all)
  const inWindow = samples.filter(({ atMs }) => isWithin(atMs, window))
  const eventsInWindow = events.filter(({ atMs }) => isWithin(atMs, window))
  const choose = (next: Window) => onShow?.(textOf(fitted(next, all)))
  const canZoom = onShow !== undefined && all.toMs - all.fromMs > minWindowMs
  return (
    <div className="space-y-3">
      {canZoom && <WindowTools all={all} window={window} shown={shown} onShow={onShow} onWindow={choose} />}
      <div className="grid gap-4 sm:grid-cols-3">
        {measures.map((measure) => (
          <Chart
            key={measure.title}
            measure={measure}
            samples={inWindow}
            events={eventsInWindow}
            window={window}
            limit={limits && measure.limitOf(limits)}
            pointerMs={pointerMs}
            onPoint={setPointerMs}
            onBrush={canZoom ? choose : undefined}
          />
        ))}
      </div>
      <Data samples={inWindow} events={eventsInWindow} total={samples.length} />
    </div>
  )
}

interface WindowToolsProps {
  all: Window
  window: Window
  shown: WindowText
  onShow: (shown: WindowText) => void
  onWindow: (window: Window) => void
}

const WindowTools = ({ all, window, shown, onShow, onWindow }: WindowToolsProps) => {
  const isChosen = !presets.some(({ value }) => value === shown)
  const options = isChosen ? [...presets, { value: shown, label: 'Selected time' }] : presets
  const slider = (end: 'fromMs' | 'toMs', label: string) => (
    <label className="flex min-w-0 flex-1 flex-col gap-1 text-xs text-muted">
      <span className="tabular flex justify-between gap-2" suppressHydrationWarning>
        {label} <span>{formatTimeOfDay(window[end]).slice(0, 8)}</span>
      </span>
      <input
        type="range"
        min={all.fromMs}
        max={all.toMs}
        // Windows can start at any time; with a step, the browser would round them.
        step="any"
        value={window[end]}
        aria-valuetext={formatExact(window[end])}
        onChange={({ target }) => {
          const atMs = Number(target.value)
          // The other end stays, unless the window would get too short.
          if (end === 'fromMs') onWindow({ fromMs: Math.min(atMs, window.toMs - minWindowMs), toMs: window.toMs })
          else onWindow({ fromMs: window.fromMs, toMs: Math.max(atMs, window.fromMs + minWindowMs) })
        }}
        className="h-6 w-full accent-(--accent)"
      />
    </label>
  )
  return (
    <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
      <SelectField label="Time" className="w-44" value={shown} onPick={onShow} options={options} />
      <div className="flex min-w-60 flex-1 gap-4">
        {slider('fromMs', 'From')}
        {slider('toMs', 'To')}
      </div>
      <Button
        size="sm"
        variant="ghost"
        icon={ZoomOut}
        disabledReason={shown === '' ? 'all data is shown' : null}
        onClick={() => onShow('')}
      >
        Show all
      </Button>
    </div>
  )
}

const [width, top, bottom, height] = [240, 8, 76, 84]
/** A longer gap breaks the line: the devbox may not have been running. */
const gapMs = 120_000
/** Dashed line: common alert threshold. */
const highShare = 0.85
const minBrush = 5

interface ChartProps {
  measure: Measure
  samples: readonly UsageSample[]
  events: readonly UsageEvent[]
  window: Window
  limit: number | undefined
  pointerMs: number | undefined
  onPoint: (atMs: number | undefined) => void
  onBrush: ((window: Window) => void) | undefined
}

const Chart = ({ measure, samples, events, window, limit, pointerMs, onPoint, onBrush }: ChartProps) => {
  const { title, figure, format } = measure
  const clip = useId()
  const [brush, setBrush] = useState<{ from: number; to: number }>()
  const reported = samples.flatMap((sample) => {
    const value = figure(sample)
    return value === null ? [] : [{ atMs: sample.atMs, value }]
  })
  const last = reported.at(-1)
  const statistics = statisticsOf(reported.map(({ value }) => value))
  if (!last || !statistics)
    return (
      <figure className="min-w-0">
        <figcaption className="font-medium">{title}</figcaption>
        <p className="text-sm text-muted">Not reported{samples.length > 0 ? '' : ' in this period'}</p>
      </figure>
    )
  // A service that doesn't enforce the limit may report more.
  const axisMax = Math.max(limit ?? 0, statistics.max) || 1
  const spanMs = window.toMs - window.fromMs
  const x = (atMs: number) => 2 + ((atMs - window.fromMs) / spanMs) * (width - 4)
  const timeAt = (place: number) => window.fromMs + ((place - 2) / (width - 4)) * spanMs
  const y = (value: number) => bottom - (value / axisMax) * (bottom - top)
  const line = reported
    .map(({ atMs, value }, at) => {
      const before = reported[at - 1]
      const isJoined = before !== undefined && atMs - before.atMs <= gapMs
      return `${isJoined ? 'L' : 'M'}${x(atMs).toFixed(1)} ${y(value).toFixed(1)}`
    })
    .join('')
  const pointed = pointerMs === undefined ? undefined : nearest(reported, pointerMs)
  const placeOf = ({ currentTarget, clientX }: PointerEvent<SVGSVGElement>) => {
    const box = currentTarget.getBoundingClientRect()
    return Math.min(width - 2, Math.max(2, ((clientX - box.left) / box.width) * width))
  }
  const endBrush = () => {
    setBrush(undefined)
    if (!brush || Math.abs(brush.to - brush.from) < minBrush) return
    const [from, to] = [Math.min(brush.from, brush.to), Math.max(brush.from, brush.to)]
    onBrush?.({ fromMs: timeAt(from), toMs: timeAt(to) })
  }
  return (
    <figure className="min-w-0">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-2">
        <span className="font-medium">{title}</span>
        <span className="tabular text-sm" suppressHydrationWarning>
          {pointed ? `${format(pointed.value)} at ${formatTimeOfDay(pointed.atMs).slice(0, 8)}` : format(last.value)}
          {!pointed && limit !== undefined && ` of ${format(limit)}`}
        </span>
      </figcaption>
      <p className="tabular flex justify-between text-xs text-muted">
        <span>{format(axisMax)}</span>
      </p>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        className={onBrush ? 'w-full cursor-crosshair touch-pan-y' : 'w-full'}
        role="img"
        aria-label={`${title} from 0 to ${format(axisMax)}: latest ${format(last.value)}, highest ${format(statistics.max)}, ${formatCount(reported.length)} samples`}
        onPointerDown={(event) => {
          if (!onBrush || event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setBrush({ from: placeOf(event), to: placeOf(event) })
        }}
        onPointerMove={(event) => {
          const place = placeOf(event)
          onPoint(timeAt(place))
          if (brush) setBrush({ ...brush, to: place })
        }}
        onPointerUp={endBrush}
        onPointerCancel={() => setBrush(undefined)}
        onPointerLeave={() => onPoint(undefined)}
      >
        <clipPath id={clip}>
          <rect x={0} y={0} width={width} height={height} />
        </clipPath>
        <line x1={0} x2={width} y1={bottom + 0.5} y2={bottom + 0.5} className="stroke-(--line-strong)" />
        {limit !== undefined && (
          <>
            <line x1={0} x2={width} y1={y(limit)} y2={y(limit)} className="stroke-(--line-strong)" />
            <line
              x1={0}
              x2={width}
              y1={y(limit * highShare)}
              y2={y(limit * highShare)}
              className="stroke-(--line-strong)"
              strokeDasharray="3 3"
            />
          </>
        )}
        {events.map(({ atMs, kind, label }, at) => (
          <line
            // biome-ignore lint/suspicious/noArrayIndexKey: several events may share a time and a label
            key={at}
            x1={x(atMs)}
            x2={x(atMs)}
            y1={spansChart(kind) ? top : bottom + 1}
            y2={spansChart(kind) ? bottom : kind === 'exit' ? bottom + 4 : height}
            className={
              kind === 'eviction'
                ? 'stroke-(--attention)'
                : spansChart(kind)
                  ? 'stroke-(--muted) opacity-60'
                  : 'stroke-(--muted)'
            }
            strokeDasharray={spansChart(kind) ? '1 2' : undefined}
          >
            <title>{`${label}, ${formatTimeOfDay(atMs).slice(0, 8)}`}</title>
          </line>
        ))}
        <g clipPath={`url(#${clip})`}>
          <path d={line} fill="none" className="stroke-(--accent) stroke-[1.5]" />
          <circle cx={x(last.atMs)} cy={y(last.value)} r={2.5} className="fill-(--accent)" />
        </g>
        {pointed && (
          <>
            <line x1={x(pointed.atMs)} x2={x(pointed.atMs)} y1={top} y2={bottom} className="stroke-(--text)" />
            <circle cx={x(pointed.atMs)} cy={y(pointed.value)} r={3} className="fill-(--text)" />
          </>
        )}
        {brush && (
          <rect
            x={Math.min(brush.from, brush.to)}
            width={Math.abs(brush.to - brush.from)}
            y={top}
            height={bottom - top}
            className="fill-(--accent) opacity-20"
          />
        )}
      </svg>
      <p className="tabular flex flex-wrap justify-between gap-x-2 text-xs text-muted" suppressHydrationWarning>
        <span>{formatTimeOfDay(window.fromMs).slice(0, 5)}</span>
        <span>{formatTimeOfDay(window.toMs).slice(0, 5)}</span>
      </p>
      <p className="tabular text-xs text-muted">
        Mean {format(statistics.mean)}, p95 {format(statistics.p95)}, highest {format(statistics.max)}
        {limit !== undefined && ` (${Math.round((statistics.max / limit) * 100)}%)`}
      </p>
    </figure>
  )
}

const spansChart = (kind: UsageEvent['kind']) => kind === 'state' || kind === 'eviction'

const nearest = (reported: readonly { atMs: number; value: number }[], atMs: number) =>
  reported.reduce<{ atMs: number; value: number } | undefined>(
    (best, each) => (best && Math.abs(best.atMs - atMs) <= Math.abs(each.atMs - atMs) ? best : each),
    undefined,
  )

const rowsShown = 120

const Data = ({
  samples,
  events,
  total,
}: {
  samples: readonly UsageSample[]
  events: readonly UsageEvent[]
  total: number
}) => {
  const rows = samples.slice(-rowsShown).reverse()
  const shownEvents = events.toSorted((a, b) => b.atMs - a.atMs).slice(0, rowsShown)
  const cell = (value: number | null, format: (value: number) => string) =>
    value === null ? 'Not reported' : format(value)
  return (
    <div className="space-y-1 text-sm">
      {events.length > 0 && (
        <details>
          <summary className="min-h-6 cursor-pointer leading-6 text-muted">
            Events: {formatCount(shownEvents.length)} of {formatCount(events.length)} in this period, newest first
          </summary>
          <ul className="mt-2 max-h-64 overflow-auto rounded-md border border-line">
            {shownEvents.map(({ atMs, label }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: several events may share a time and a label
              <li key={at} className="flex gap-3 border-t border-line px-2 py-0.5 first:border-t-0">
                <span className="tabular shrink-0 text-muted" title={formatExact(atMs)} suppressHydrationWarning>
                  {formatTimeOfDay(atMs).slice(0, 8)}
                </span>
                <span className="min-w-0 truncate">
                  <VisibleText max={200}>{label}</VisibleText>
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
      <details>
        <summary className="min-h-6 cursor-pointer leading-6 text-muted">
          Data: {formatCount(rows.length)} of {formatCount(total)} samples, newest first
        </summary>
        <Scrolled className="mt-2 max-h-64 overflow-auto rounded-md border border-line">
          <table className="tabular w-full">
            <caption className="sr-only">CPU, memory and disk, newest first</caption>
            <thead className="sticky top-0 bg-surface-1 text-left">
              <tr>
                <th className="px-2 py-1 font-medium">Time</th>
                {[...measures.map(({ title }) => title), 'Host disk free', 'Processes'].map((title) => (
                  <th key={title} className="px-2 py-1 text-right font-medium">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((sample, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two samples may share a timestamp
                <tr key={at} className="border-t border-line">
                  <td className="px-2 py-0.5 whitespace-nowrap" title={formatExact(sample.atMs)}>
                    {formatTimeOfDay(sample.atMs).slice(0, 8)}
                  </td>
                  {measures.map(({ title, figure, format }) => (
                    <td key={title} className="px-2 py-0.5 text-right whitespace-nowrap">
                      {cell(figure(sample), format)}
                    </td>
                  ))}
                  <td className="px-2 py-0.5 text-right whitespace-nowrap">
                    {cell(sample.diskFreeBytes, formatBytes)}
                  </td>
                  <td className="px-2 py-0.5 text-right">{sample.processes ?? 'Not reported'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolled>
      </details>
    </div>
  )
}
