import { agentLabel, formatP, metricText, stepOf, type TrendStep, truncate } from '#lib/protocol/report-words.ts'
import type { TrendPoint, TrendReport } from '#lib/protocol/reports.ts'
import { maskText } from '#lib/protocol/secrets.ts'
import { jobNameOf, pointsWithoutExclusions } from '../trend-points.ts'
import { htmlDocument, type Provenance, section, timeText } from './document.ts'
import { axisOf, countText, rangeText, scoreFacts, signed } from './figures.ts'
import { exclusionSection, labelSection } from './marks.ts'
import { html, type Markup } from './markup.ts'
import { tableOf } from './table.ts'

export const trendHtml = (report: TrendReport, provenance: Provenance): string => {
  const { points, data_set: set } = report
  const agents = points.map(({ figures }) => figures)
  const name = jobNameOf(report)
  const without = pointsWithoutExclusions(report)
  const changed = points.filter(({ incomparable }) => incomparable.length > 0)
  return htmlDocument({
    kind: 'Trend',
    title: agentLabel({ name: report.agent_name, model: report.model_name }),
    facts: [
      ['Dataset', truncate(set.benchmark_name ?? set.job_name)],
      ['Runs', countText(points.length)],
      ...(report.complete ? [] : [['State', 'incomplete'] as const]),
      ...scoreFacts(report),
    ],
    verdict: report.verdict,
    sections:
      points.length === 0
        ? [html`<p>No outcomes of this agent in the searched jobs.</p>`]
        : [
            section('Mean by job', plot(report)),
            section('Jobs', pointTable(report)),
            changed.length === 0
              ? null
              : section(
                  'Other differences',
                  ...changed.map(
                    ({ job, incomparable }) =>
                      html`<h3>${truncate(job.name)}</h3><ul>${incomparable.map(({ text }) => html`<li>${truncate(maskText(text), 600)}</li>`)}</ul>`,
                  ),
                ),
            exclusionSection(report, agents, name, without && pointTable({ ...report, points: without })),
            labelSection(report, agents, name),
          ],
    notes: report.notes,
    runs: points.map(({ job, figures }) => ({ id: figures.benchmark_run_id, label: job.name })),
    provenance,
  })
}

const words: Record<TrendStep, string> = {
  first: 'First',
  regression: 'Regression',
  possible: 'Possible regression',
  better: 'Better',
  slightly_better: 'Better, not significant',
  worse: 'Worse, not significant',
  same: 'Same',
  none: 'Unknown',
}
const tones: Partial<Record<TrendStep, string>> = { regression: 'danger', possible: 'attention', better: 'ok' }

const pointTable = ({ points, metric }: Pick<TrendReport, 'points' | 'metric'>): Markup =>
  tableOf<readonly [number, TrendPoint]>(
    'Oldest first; each change is from the previous job, on the scenarios both scored',
    [
      {
        head: 'Job',
        cell: ([at, { job, complete }]) =>
          html`${at}. ${truncate(job.name)}<span class="sub">${timeText(job.create_time_ms)}${!complete && ', incomplete'}</span>`,
        kind: 'name',
      },
      {
        head: 'Mean',
        cell: ([, { figures }]) =>
          figures.mean === null
            ? null
            : html`<b>${metricText(metric, figures.mean)}</b><span class="sub">n = ${figures.n_scenarios}</span>`,
        kind: 'n',
      },
      { head: '95% CI', cell: ([, { figures }]) => rangeText(figures, metric), kind: 'n' },
      {
        head: 'Change',
        cell: ([, { change }]) =>
          change?.difference == null
            ? null
            : html`<b>${signed(change.difference, metric)}</b><span class="sub">n = ${change.n}</span>`,
        kind: 'n',
      },
      { head: '95% CI of change', cell: ([, { change }]) => change && rangeText(change, metric), kind: 'n' },
      {
        head: 'Adjusted p',
        cell: ([, { change }]) => (change?.p_adjusted == null ? null : formatP(change.p_adjusted)),
        kind: 'n',
      },
      {
        head: 'Trend',
        cell: ([, point]) => {
          const step = stepOf(point)
          return html`<span class="badge ${tones[step] ?? 'neutral'}">${words[step]}</span>`
        },
      },
    ],
    points.map((point, at) => [at + 1, point] as const),
  )

const [left, top, bottom, height, width] = [40, 20, 210, 240, 1000]

const plot = (report: TrendReport): Markup => {
  const { points, metric } = report
  const axis = axisOf(
    report,
    points.flatMap(({ figures: { mean, ci_low, ci_high } }) => [mean, ci_low, ci_high]),
  )
  const y = (score: number) =>
    Number((bottom - ((score - axis.low) / (axis.high - axis.low)) * (bottom - top)).toFixed(1))
  const step = (width - left) / points.length
  const x = (at: number) => Number((left + (at + 0.5) * step).toFixed(1))
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => axis.low + part * (axis.high - axis.low))
  const placed = points.flatMap(({ figures: { mean } }, at) => (mean === null ? [] : [`${x(at)},${y(mean)}`]))
  return html`<figure><figcaption>Jobs, oldest first, numbered as in the table; mean with 95% CI. Hollow: job still running. Triangle: regression (hollow: possible).</figcaption>
<svg class="plot" role="img" aria-label="Mean by job" viewBox="0 0 ${width} ${height}">${ticks.map(
    (tick) =>
      html`<path class="tick" d="M${left} ${y(tick)}H${width}"/><text x="${left - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
  )}<polyline class="line" points="${placed.join(' ')}"/>${points.map((point, at) => mark(point, at + 1, x(at), y, metric))}</svg></figure>`
}

const mark = (
  { figures, regression, complete }: TrendPoint,
  number: number,
  x: number,
  y: (score: number) => number,
  metric: string | null,
): Markup => {
  const { mean, ci_low, ci_high } = figures
  const label = html`<text class="strong" x="${x}" y="${bottom + 16}" text-anchor="middle">${number}</text>`
  if (mean === null) return html`${label}<text x="${x}" y="${bottom + 28}" text-anchor="middle">no score</text>`
  return html`${label}${
    ci_low !== null &&
    ci_high !== null &&
    html`<path class="whisker" d="M${x} ${y(ci_low)}V${y(ci_high)}M${x - 5} ${y(ci_low)}h10M${x - 5} ${y(ci_high)}h10"/>`
  }${
    regression
      ? html`<path class="fall${regression === 'possible' && ' open'}" d="M${x - 7} ${y(mean) - 5}h14l-7 12z"/>`
      : html`<circle class="dot${!complete && ' open'}" cx="${x}" cy="${y(mean)}" r="5"/>`
  }<text class="strong" x="${x + 9}" y="${y(mean) < top + 20 ? y(mean) + 14 : y(mean) - 6}">${metricText(metric, mean)}</text>`
}
