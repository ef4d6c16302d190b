import { labelPlaces } from '#lib/protocol/label-places.ts'
import { costAxis, placeOn } from '#lib/protocol/plot-axes.ts'
import { metricLabel, metricText, type NameOf, truncate } from '#lib/protocol/report-words.ts'
import type { AgentFigures, Report } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { frontierOf } from '#lib/statistics/frontier.ts'
import { section } from './document.ts'
import { axisOf, spent } from './figures.ts'
import { html, type Markup } from './markup.ts'

const [width, height, left, top, bottom, labelWidth] = [720, 300, 44, 10, 36, 6]

/** Score against the first of cost, tokens and duration that agents report, with the Pareto frontier. */
export const costPlot = (
  report: Pick<Report, 'agents' | 'metric' | 'is_unit_range' | 'lower_is_better'>,
  name: NameOf,
): Markup | null => {
  const candidates = report.agents.filter(({ agent_name }) => !isControl(agent_name))
  const on = (Object.keys(spent) as (keyof typeof spent)[]).find(
    (each) => each !== report.metric && candidates.some(({ metrics }) => metrics[each]?.mean != null),
  )
  if (on === undefined || candidates.length < 2) return null
  const points = candidates.flatMap((agent) => {
    const costs = agent.metrics[on]
    return agent.mean === null || costs?.mean == null ? [] : [{ agent, score: agent.mean, cost: costs.mean, costs }]
  })
  if (points.length === 0) return null
  const { title, format } = spent[on]
  const axis = `mean ${title.toLowerCase()} per attempt`
  const { frontier, dominators } = frontierOf(points, report.lower_is_better)
  const xAxis = costAxis(
    points.map(({ cost }) => cost),
    points.flatMap(({ costs }) => [costs.ci_low ?? 0, costs.ci_high ?? 0]),
  )
  const yAxis = axisOf(
    report,
    points.flatMap(({ agent, score }) => [score, agent.ci_low, agent.ci_high]),
  )
  const fixed = (value: number) => Number(value.toFixed(1))
  const x = (value: number) => fixed(left + placeOn(xAxis, value) * (width - left - 16))
  const y = (value: number) => {
    const share = (Math.min(yAxis.high, Math.max(yAxis.low, value)) - yAxis.low) / (yAxis.high - yAxis.low)
    return fixed(top + (report.lower_is_better ? share : 1 - share) * (height - top - bottom))
  }
  const labels = points.map(({ agent }) => truncate(shortName(agent, name), 40))
  const places = labelPlaces(
    points.map(({ cost, score }, at) => ({ x: x(cost), y: y(score), width: (labels[at] ?? '').length * labelWidth })),
    { left, top: 0, right: width, bottom: height - bottom },
  )
  const [first] = frontier
  const steps = frontier.slice(1).map(({ cost, score }) => `H${x(cost)}V${y(score)}`)
  return section(
    `Score against ${title.toLowerCase()}`,
    html`<figure><figcaption>x: ${axis}${xAxis.isLog && ', logarithmic'}; y: mean ${report.metric === null ? 'score' : metricLabel(report.metric)}${report.lower_is_better && ', lower is better'}; whiskers: 95% CI. Filled: on the frontier, no other agent is cheaper and at least as good.</figcaption>
<svg class="plot" role="img" aria-label="Score against ${axis}" viewBox="0 0 ${width} ${height}" width="${width}">${[
      yAxis.low,
      (yAxis.low + yAxis.high) / 2,
      yAxis.high,
    ].map(
      (tick) =>
        html`<path class="tick" d="M${left} ${y(tick)}H${width - 16}"/><text x="${left - 6}" y="${y(tick) + 4}" text-anchor="end">${Number(tick.toPrecision(4))}</text>`,
    )}${xAxis.ticks.map(
      (tick, at) =>
        html`<path class="tick" d="M${x(tick)} ${top}V${height - bottom}"/><text x="${x(tick)}" y="${height - bottom + 16}" text-anchor="${at === xAxis.ticks.length - 1 ? 'end' : 'middle'}">${format(tick)}</text>`,
    )}${first && html`<path class="line" d="M${x(first.cost)} ${y(first.score)}${steps}H${width - 16}"/>`}${points.map(
      ({ agent, cost, score, costs }, at) =>
        html`<g><title>${name(agent)}: ${metricText(report.metric, score)}, ${format(cost)}</title>${
          agent.ci_low !== null &&
          agent.ci_high !== null &&
          html`<path class="tick axis" d="M${x(cost)} ${y(agent.ci_low)}V${y(agent.ci_high)}"/>`
        }${
          costs.ci_low !== null &&
          costs.ci_high !== null &&
          html`<path class="tick axis" d="M${x(costs.ci_low)} ${y(score)}H${x(costs.ci_high)}"/>`
        }<circle class="dot${dominators[at]?.length !== 0 && ' open'}" cx="${x(cost)}" cy="${y(score)}" r="5"/></g>`,
    )}${places.map((place, at) => place && html`<text class="strong" x="${fixed(place.left)}" y="${fixed(place.bottom - 3)}">${labels[at]}</text>`)}</svg></figure>`,
  )
}

const shortName = (agent: AgentFigures, name: NameOf): string => name(agent).replace(/ · [^ /]+\//, ' · ')
