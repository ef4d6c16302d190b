import { metricText } from '#lib/protocol/report-words.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'

interface IntervalBarProps {
  value: number
  low: number | null
  high: number | null
  from?: number
  to?: number
}

/** Rounded ends need no decimals. */
export const axisText = (metric: string | null, end: number): string =>
  isBuiltIn(metric) ? metricText(metric, end) : `${end}`

interface IntervalCellProps extends Omit<IntervalBarProps, 'from' | 'to'> {
  axis: { low: number; high: number }
  metric: string | null
  reason: string | undefined
  title?: string | undefined
}

export const IntervalCell = ({ axis, metric, reason, title, ...bar }: IntervalCellProps) => (
  <span className="flex items-center gap-3">
    <span className="w-20 shrink-0">
      <IntervalBar {...bar} from={axis.low} to={axis.high} />
    </span>
    {bar.low === null || bar.high === null ? (
      <span className="truncate text-muted" title={reason}>
        {reason ?? 'None'}
      </span>
    ) : (
      <span className="tabular whitespace-nowrap" title={title}>
        {metricText(metric, bar.low)} to {metricText(metric, bar.high)}
      </span>
    )}
  </span>
)

const height = 14

/** Bar from zero with a whisker for the interval; hidden from screen readers because the text has the numbers. */
export const IntervalBar = ({ value, low, high, from = 0, to = 1 }: IntervalBarProps) => {
  const x = (at: number) => ((Math.min(to, Math.max(from, at)) - from) / (to - from)) * 100
  const [zero, end] = [x(0), x(value)]
  const middle = height / 2
  return (
    <svg aria-hidden viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" className="h-3.5 w-full overflow-visible">
      {[from, (from + to) / 2, to].map((tick) => (
        <Stroke key={tick} x1={x(tick)} x2={x(tick)} y1={0} y2={height} className="stroke-(--line)" />
      ))}
      <rect
        x={Math.min(zero, end)}
        width={Math.abs(end - zero)}
        y={3}
        height={height - 6}
        className="fill-(--score-high)"
      />
      {from < 0 && <Stroke x1={zero} x2={zero} y1={0} y2={height} className="stroke-(--line-strong)" />}
      {low !== null && high !== null && (
        <g className="stroke-(--text) stroke-[1.5]">
          <Stroke x1={x(low)} x2={x(high)} y1={middle} y2={middle} />
          <Stroke x1={x(low)} x2={x(low)} y1={3} y2={height - 3} />
          <Stroke x1={x(high)} x2={x(high)} y1={3} y2={height - 3} />
        </g>
      )}
    </svg>
  )
}

const Stroke = (line: React.SVGProps<SVGLineElement>) => <line vectorEffect="non-scaling-stroke" {...line} />
