'use client'
import { useEffect, useRef, useState } from 'react'
import { Chips } from '#components/ui/choice/chips.tsx'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import { labelPlaces } from '#lib/protocol/label-places.ts'
import { axisFor, costAxis, placeOn } from '#lib/protocol/plot-axes.ts'
import { labeledAgent, metricLabel, metricText, type NameOf, truncate } from '#lib/protocol/report-words.ts'
import type { AgentFigures, MetricFigures, Report } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { frontierOf } from '#lib/statistics/frontier.ts'
import { shortLabels } from '../job-figures.ts'
import { formatTokens, formatUsd } from '../usage-text.tsx'

type Spent = '@cost_usd' | '@tokens' | '@duration_ms'

const spent: Record<Spent, { label: string; axis: string; format: (value: number) => string; unknown: string }> = {
  '@cost_usd': { label: 'Cost', axis: 'mean cost per attempt', format: formatUsd, unknown: 'no attempt reports cost' },
  '@tokens': {
    label: 'Tokens',
    axis: 'mean tokens per attempt',
    format: formatTokens,
    unknown: 'no attempt reports input and output tokens',
  },
  '@duration_ms': {
    label: 'Duration',
    axis: 'mean duration per attempt',
    format: formatDurationMs,
    unknown: 'no attempt reports a duration',
  },
}

interface Point {
  agent: AgentFigures
  score: number
  cost: number
  costs: MetricFigures
}

interface ScoreAgainstCostProps {
  report: Pick<Report, 'agents' | 'metric' | 'is_unit_range' | 'lower_is_better'>
  name: NameOf
}

export const ScoreAgainstCost = ({ report, name }: ScoreAgainstCostProps) => {
  const [chosen, setChosen] = useState<Spent | null>(null)
  const candidates = report.agents.filter(({ agent_name }) => !isControl(agent_name))
  const options = (Object.keys(spent) as Spent[]).filter(
    (each) => each !== report.metric && candidates.some(({ metrics }) => metrics[each]?.mean != null),
  )
  const on = options.find((each) => each === chosen) ?? options[0]
  if (on === undefined || candidates.length < 2) return null
  const shortName = shortNames(report, name)
  const points = candidates.flatMap((agent): Point[] => {
    const costs = agent.metrics[on]
    return agent.mean === null || costs?.mean == null ? [] : [{ agent, score: agent.mean, cost: costs.mean, costs }]
  })
  points.sort((a, b) => a.cost - b.cost)
  const left = report.agents.flatMap((agent) => {
    if (isControl(agent.agent_name)) return [`${name(agent)} (control)`]
    if (points.some((point) => point.agent === agent)) return []
    return [`${name(agent)} (${agent.mean === null ? (agent.reasons.mean ?? 'no score') : spent[on].unknown})`]
  })
  const { frontier, dominators } = frontierOf(points, report.lower_is_better)
  return (
    <section aria-label="Score against cost" className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="text-lg font-medium">Score against {spent[on].label.toLowerCase()}</h2>
        {options.length > 1 && (
          <Chips
            legend="Horizontal axis"
            value={on}
            options={options.map((value) => ({ value, label: spent[value].label }))}
            onChange={setChosen}
          />
        )}
      </div>
      <div className="grid items-start gap-x-8 gap-y-4 lg:grid-cols-2">
        <Plot report={report} points={points} frontier={frontier} dominators={dominators} name={shortName} on={on} />
        <Scrolled className="relative overflow-x-auto">
          <PointTable metric={report.metric} points={points} dominators={dominators} name={shortName} on={on} />
        </Scrolled>
      </div>
      {left.length > 0 && (
        <p className="max-w-prose text-sm text-muted">
          Not plotted: <VisibleText>{left.join(', ')}</VisibleText>.
        </p>
      )}
    </section>
  )
}

/** Agents of several jobs keep their full names. */
const shortNames = ({ agents }: ScoreAgainstCostProps['report'], name: NameOf): NameOf => {
  if (new Set(agents.map(({ job_id }) => job_id)).size > 1) return name
  const labels = shortLabels(agents.map(labeledAgent))
  const byRun = new Map(agents.map(({ benchmark_run_id }, at) => [benchmark_run_id, labels[at]]))
  return (agent) => byRun.get(agent.benchmark_run_id) ?? name(agent)
}

interface PlotProps extends ScoreAgainstCostProps {
  points: readonly Point[]
  frontier: readonly Point[]
  dominators: readonly (readonly Point[])[]
  on: Spent
}

const height = 320
const [top, bottom, labelWidth, labelLength] = [12, 44, 6.6, 32]
/** Above this, or on a narrow plot, points carry their number in the table. */
const [maxNamed, minNamedWidth] = [10, 520]

const Plot = ({ report, points, frontier, dominators, name, on }: PlotProps) => {
  const { ref, width } = useWidth()
  const { axis: words, format } = spent[on]
  const x = costAxis(
    points.map(({ cost }) => cost),
    points.flatMap(({ costs }) => [costs.ci_low ?? 0, costs.ci_high ?? 0]),
  )
  const y = report.is_unit_range
    ? { low: 0, high: 1 }
    : axisFor(points.flatMap(({ agent, score }) => [score, agent.ci_low ?? score, agent.ci_high ?? score]))
  const from = 48
  const [plotWidth, plotHeight] = [Math.max(1, width - from - 16), height - top - bottom]
  const toX = (value: number) => from + placeOn(x, value) * plotWidth
  const toY = (value: number) => {
    const share = (Math.min(y.high, Math.max(y.low, value)) - y.low) / (y.high - y.low)
    return top + (report.lower_is_better ? share : 1 - share) * plotHeight
  }
  const isNumbered = points.length > maxNamed || width < minNamedWidth
  const labels = points.map((point, at) => (isNumbered ? `${at + 1}` : truncate(name(point.agent), labelLength)))
  const places = labelPlaces(
    points.map(({ cost, score }, at) => ({
      x: toX(cost),
      y: toY(score),
      width: (labels[at] ?? '').length * labelWidth + 2,
    })),
    { left: from, top: 0, right: width, bottom: height - bottom },
  )
  return (
    <div ref={ref} className="min-w-0">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={`Score against ${words}; the table has the values`}
        className="max-w-full overflow-visible text-xs"
      >
        {[y.low, (y.low + y.high) / 2, y.high].map((tick) => (
          <g key={tick}>
            <line x1={from} x2={from + plotWidth} y1={toY(tick)} y2={toY(tick)} className="stroke-(--line)" />
            <text x={from - 8} y={toY(tick) + 4} textAnchor="end" className="fill-(--text-muted)">
              {Number(tick.toPrecision(4))}
            </text>
          </g>
        ))}
        {x.ticks.map((tick, at) => (
          <g key={tick}>
            <line x1={toX(tick)} x2={toX(tick)} y1={top} y2={top + plotHeight} className="stroke-(--line)" />
            <text
              x={toX(tick)}
              y={height - 26}
              textAnchor={at === x.ticks.length - 1 ? 'end' : 'middle'}
              className="fill-(--text-muted)"
            >
              {format(tick)}
            </text>
          </g>
        ))}
        <text x={from} y={height - 6} className="fill-(--text-muted)">
          x: {words}
          {x.isLog && ', logarithmic'}; y: mean {report.metric === null ? 'score' : metricLabel(report.metric)}
          {report.lower_is_better && ', lower is better'}
        </text>
        <path d={stepsOf(frontier, toX, toY, from + plotWidth)} fill="none" className="stroke-(--accent) stroke-2" />
        {points.map(({ agent, cost, score, costs }) => (
          <g key={agent.benchmark_run_id} className="stroke-(--text-muted)">
            {agent.ci_low !== null && agent.ci_high !== null && (
              <line x1={toX(cost)} x2={toX(cost)} y1={toY(agent.ci_low)} y2={toY(agent.ci_high)} />
            )}
            {costs.ci_low !== null && costs.ci_high !== null && (
              <line x1={toX(costs.ci_low)} x2={toX(costs.ci_high)} y1={toY(score)} y2={toY(score)} />
            )}
          </g>
        ))}
        {points.map(({ agent, cost, score }, at) => (
          <circle
            key={agent.benchmark_run_id}
            cx={toX(cost)}
            cy={toY(score)}
            r={5}
            className={`stroke-(--accent) stroke-2 ${dominators[at]?.length === 0 ? 'fill-(--accent)' : 'fill-(--surface-0)'}`}
          >
            <title>{`${name(agent)}: ${metricText(report.metric, score)}, ${format(cost)}`}</title>
          </circle>
        ))}
        {places.map((place, at) =>
          place ? (
            <text
              key={points[at]?.agent.benchmark_run_id}
              x={place.left}
              y={place.bottom - 3}
              className="fill-(--text) stroke-(--surface-0) stroke-[3]"
              paintOrder="stroke"
            >
              {labels[at]}
            </text>
          ) : null,
        )}
      </svg>
    </div>
  )
}

/** The best score for each cost. */
const stepsOf = (
  frontier: readonly Point[],
  toX: (cost: number) => number,
  toY: (score: number) => number,
  end: number,
): string => {
  const [first] = frontier
  if (!first) return ''
  const steps = frontier.slice(1).map(({ cost, score }) => `H${toX(cost)}V${toY(score)}`)
  return `M${toX(first.cost)} ${toY(first.score)}${steps.join('')}H${end}`
}

const useWidth = () => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(640)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.max(240, Math.floor(entry.contentRect.width)))
    })
    if (ref.current) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}

const headClass = 'border-b border-line px-2 py-1 font-medium text-muted'
const cellClass = 'border-b border-line px-2 py-1 align-top'

interface PointTableProps extends Pick<PlotProps, 'points' | 'dominators' | 'name' | 'on'> {
  metric: string | null
}

const PointTable = ({ metric, points, dominators, name, on }: PointTableProps) => {
  const { label, format } = spent[on]
  const exact = (value: number) => (on === '@cost_usd' && value < 1 ? `$${value.toFixed(4)}` : format(value))
  return (
    <table className="tabular w-full text-left text-sm">
      <caption className="sr-only">Score and {label.toLowerCase()} per attempt</caption>
      <thead>
        <tr>
          {['#', 'Agent', 'Score', label].map((word) => (
            <th key={word} scope="col" className={headClass}>
              {word}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {points.map(({ agent, score, cost, costs }, at) => {
          const [by, ...others] = (dominators[at] ?? []).map((each) => name(each.agent))
          return (
            <tr key={agent.benchmark_run_id}>
              <td className={`${cellClass} text-muted`}>{at + 1}</td>
              <th scope="row" className={`${cellClass} font-medium`}>
                <VisibleText max={80}>{name(agent)}</VisibleText>
                <span className="block text-xs font-normal text-muted">
                  {by === undefined ? (
                    'On the frontier'
                  ) : (
                    <>
                      Dominated by <VisibleText max={120}>{by}</VisibleText>
                      {others.length > 0 && ` and ${formatCount(others.length)} more`}
                    </>
                  )}
                </span>
              </th>
              <td className={`${cellClass} whitespace-nowrap`}>
                {metricText(metric, score)}
                <Range
                  low={agent.ci_low}
                  high={agent.ci_high}
                  format={(value) => metricText(metric, value)}
                  why={agent.reasons.ci_low}
                />
              </td>
              <td className={`${cellClass} whitespace-nowrap`}>
                {exact(cost)}
                <Range low={costs.ci_low} high={costs.ci_high} format={(value) => exact(Math.max(0, value))} />
                {costs.n_attempts < agent.n_attempts && (
                  <span className="block text-xs text-muted">
                    over {formatCount(costs.n_attempts)} of {formatCount(agent.n_attempts)} attempts
                  </span>
                )}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

interface RangeProps {
  low: number | null
  high: number | null
  format: (value: number) => string
  why?: string | undefined
}

const Range = ({ low, high, format, why = 'No interval' }: RangeProps) => (
  <span className="block text-xs text-muted" title={low === null ? why : '95% CI'}>
    {low === null || high === null ? '–' : `${format(low)} to ${format(high)}`}
  </span>
)
