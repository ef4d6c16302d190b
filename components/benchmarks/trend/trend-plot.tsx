import { Scrolled } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { stepOf, threeDecimals } from '#lib/protocol/report-words.ts'
import type { TrendPoint, TrendReport } from '#lib/protocol/reports.ts'
import { axisFor } from '../job/interval-bar.tsx'

const [left, top, bottom, height] = [40, 26, 224, 262]

type Scale = (score: number) => number

export const TrendPlot = ({ report, label }: { report: TrendReport; label: string }) => {
  const { points, metric, is_unit_range } = report
  const ends = points.flatMap(({ figures: { mean, ci_low, ci_high } }) => [mean ?? 0, ci_low ?? 0, ci_high ?? 0])
  const { low, high } = is_unit_range ? { low: 0, high: 1 } : axisFor(ends)
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => low + part * (high - low))
  const y: Scale = (score) => bottom - ((Math.min(high, Math.max(low, score)) - low) / (high - low)) * (bottom - top)
  const step = Math.min(160, Math.max(56, Math.floor(1040 / points.length)))
  const width = left + points.length * step + 12
  const x = (at: number) => left + (at + 0.5) * step
  const placed = points.flatMap((point, at) =>
    point.figures.mean === null ? [] : [{ point, at, mean: point.figures.mean }],
  )
  return (
    <figure className="space-y-1">
      <figcaption>
        <span className="font-medium">
          Mean {metric ? <VisibleText max={60}>{metric}</VisibleText> : 'score'} by job
        </span>{' '}
        <span className="text-sm text-muted">
          x: jobs, oldest first, numbered as in the table; y: mean with 95% CI, {low} to {high}. Hollow: job still
          running. Triangle: regression (hollow: possible).
        </span>
      </figcaption>
      <Scrolled ref={showNewest} className="flex overflow-x-auto">
        {/* The scale stays visible while scrolling. */}
        <svg width={left} height={height} aria-hidden className="sticky left-0 shrink-0 bg-surface-0">
          {ticks.map((tick) => (
            <text
              key={tick}
              x={left - 6}
              y={y(tick) + 4}
              textAnchor="end"
              className="tabular fill-(--text-muted) text-[11px]"
            >
              {tick}
            </text>
          ))}
        </svg>
        <svg
          viewBox={`${left} 0 ${width - left} ${height}`}
          width={width - left}
          height={height}
          role="img"
          aria-label={label}
          className="shrink-0"
        >
          {ticks.map((tick) => (
            <line key={tick} x1={left} x2={width} y1={y(tick)} y2={y(tick)} className="stroke-(--line)" />
          ))}
          <polyline
            points={placed.map(({ at, mean }) => `${x(at)},${y(mean)}`).join(' ')}
            fill="none"
            className="stroke-(--accent) stroke-[1.5]"
          />
          {points.map((point, at) => (
            <Mark key={point.figures.benchmark_run_id} point={point} number={at + 1} x={x(at)} y={y} />
          ))}
        </svg>
      </Scrolled>
    </figure>
  )
}

const showNewest = (scrolled: HTMLElement | null) => {
  if (scrolled) scrolled.scrollLeft = scrolled.scrollWidth
}

const Mark = ({ point, number, x, y }: { point: TrendPoint; number: number; x: number; y: Scale }) => {
  const { mean, ci_low, ci_high, n_scenarios } = point.figures
  const regression = point.regression
  return (
    <g>
      <title>{`${point.job.name}: ${mean === null ? 'no score' : `${threeDecimals(mean)}, n = ${n_scenarios}`}`}</title>
      <text x={x} y={bottom + 16} textAnchor="middle" className="tabular fill-(--text) text-[11px]">
        {number}
      </text>
      <text x={x} y={bottom + 30} textAnchor="middle" className="tabular fill-(--text-muted) text-[10px]">
        {mean === null ? 'no score' : `n ${formatCount(n_scenarios)}`}
      </text>
      {mean !== null && (
        <>
          {ci_low !== null && ci_high !== null && (
            <path
              d={`M${x} ${y(ci_low)}V${y(ci_high)}M${x - 5} ${y(ci_low)}h10M${x - 5} ${y(ci_high)}h10`}
              className="stroke-(--text-muted) stroke-[1.5]"
            />
          )}
          {regression ? (
            <path
              d={`M${x - 7} ${y(mean) - 5}h14l-7 12z`}
              className={
                regression === 'significant' ? 'fill-(--danger)' : 'fill-(--surface-0) stroke-(--attention) stroke-2'
              }
            />
          ) : (
            <circle
              cx={x}
              cy={y(mean)}
              r={5}
              className={point.complete ? 'fill-(--accent)' : 'fill-(--surface-0) stroke-(--accent) stroke-2'}
            />
          )}
          <text
            x={x + 9}
            y={y(mean) + (y(mean) < top + 20 ? 14 : -6)}
            paintOrder="stroke"
            className="tabular fill-(--text) stroke-(--surface-0) stroke-[4] text-[11px]"
          >
            {threeDecimals(mean)}
          </text>
          {regression && (
            <text x={x} y={14} textAnchor="middle" className="fill-(--text) text-[10px] font-medium">
              {stepOf(point) === 'regression' ? 'Regression' : 'Possible'}
            </text>
          )}
        </>
      )}
    </g>
  )
}
