import { axisFor, roundUp } from '#lib/protocol/plot-axes.ts'
import {
  aboutScenarios,
  formatP,
  metricLabel,
  metricText,
  type NameOf,
  pText,
  threeDecimals,
  truncate,
} from '#lib/protocol/report-words.ts'
import type {
  AgentFigures,
  AgentIdentity,
  FailureRule,
  GroupReport,
  PairFigures,
  Report,
  ScoreScale,
} from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'
import { section } from './document.ts'
import { html, type Markup } from './markup.ts'
import { type Column, cutList, tableOf } from './table.ts'

export const countText = (count: number): string => count.toLocaleString('en-US')

/** `850 ms`, `12.3 s`, `3 min 5 s`, `2 h 10 min` */
export const durationText = (ms: number): string => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor(ms / 1000) % 60} s`
  return `${countText(Math.floor(minutes / 60))} h ${minutes % 60} min`
}

export const signed = (value: number, metric: string | null): string =>
  `${value > 0 ? '+' : ''}${metricText(metric, value)}`

const withSub = (main: string, sub: string | null): Markup =>
  html`${main}${sub !== null && html`<span class="sub">${sub}</span>`}`

const ruleLabels: Record<FailureRule, string> = { zero: 'score 0', leave_out: 'excluded' }

/** Settings that the figures depend on. */
export const scoreFacts = ({
  rule,
  metric,
  threshold,
  lower_is_better,
}: Pick<Report, 'rule' | 'metric' | 'threshold' | 'lower_is_better'>): (readonly [string, string])[] => [
  ['Failures', ruleLabels[rule]],
  ...(metric === null
    ? []
    : [['Metric', `${metricLabel(metric)}${lower_is_better ? ', lower is better' : ''}`] as const]),
  ...(threshold === null ? [] : [['Pass threshold', `${threshold}`] as const]),
]

/** Name and model on two lines; `suffix` of the name keeps two runs of one agent apart. */
const agentCell = (agent: AgentIdentity, name: NameOf): Markup => {
  const [first = '', ...model] = truncate(name(agent), 260).split(' · ')
  const control = isControl(agent.agent_name) ? ['control, not ranked'] : []
  return withSub(first, [...model, ...control].join(' · ') || null)
}

type Axis = ReturnType<typeof axisFor>

export const axisOf = (
  { is_unit_range }: Pick<ScoreScale, 'is_unit_range'>,
  values: readonly (number | null)[],
): Axis => (is_unit_range ? { low: 0, high: 1 } : axisFor(values.map((value) => value ?? 0)))

interface Interval {
  value: number | null
  low: number | null
  high: number | null
  reason: string | undefined
  metric: string | null
}

/** Bar from zero with a whisker for the interval, above its text. */
const intervalCell = ({ value, low, high, reason, metric }: Interval, axis: Axis): Markup | null => {
  if (value === null) return null
  const x = (at: number) =>
    Number((((Math.min(axis.high, Math.max(axis.low, at)) - axis.low) / (axis.high - axis.low)) * 160).toFixed(2))
  const [zero, end] = [x(0), x(value)]
  const text =
    low === null || high === null
      ? `No CI: ${reason ?? 'unknown'}`
      : `${metricText(metric, low)} to ${metricText(metric, high)}`
  return html`<svg aria-hidden="true" viewBox="0 0 160 14" preserveAspectRatio="none">${[
    axis.low,
    (axis.low + axis.high) / 2,
    axis.high,
  ].map(
    (tick) => html`<path class="tick" d="M${x(tick)} 0V14"/>`,
  )}<rect class="bar" x="${Math.min(zero, end)}" y="3" width="${Math.abs(end - zero)}" height="8"/>${axis.low < 0 && html`<path class="axis" d="M${zero} 0V14"/>`}${
    low !== null &&
    high !== null &&
    html`<path class="whisker" d="M${x(low)} 7H${x(high)}M${x(low)} 3V11M${x(high)} 3V11"/>`
  }</svg>${text}`
}

const largestK = (byK: Readonly<Record<string, number>> | null): number =>
  Math.max(0, ...Object.keys(byK ?? {}).map(Number))

export const agentTable = (
  report: Pick<Report, 'agents' | 'metric' | 'is_unit_range'>,
  name: NameOf,
  more: readonly Column<AgentFigures>[] = [],
): Markup => {
  const { agents, metric } = report
  if (agents.length === 0) return html`<p>No agent has an outcome yet.</p>`
  const axis = axisOf(
    report,
    agents.flatMap(({ mean, ci_low, ci_high }) => [mean, ci_low, ci_high]),
  )
  return tableOf<AgentFigures>(
    `Mean ${metric === null ? 'score' : metricLabel(metric)} with 95% confidence interval; axis ${axis.low} to ${axis.high}`,
    [
      { head: 'Agent', cell: (agent) => agentCell(agent, name), kind: 'name' },
      ...more,
      {
        head: 'Rank',
        cell: ({ rank_low, rank_high }) =>
          rank_low === null || rank_low === rank_high ? textOf(rank_low) : `${rank_low}–${rank_high}`,
        kind: 'n',
      },
      {
        head: 'Mean',
        cell: ({ mean, n_scenarios }) =>
          mean === null
            ? null
            : html`<b>${metricText(metric, mean)}</b><span class="sub">n = ${countText(n_scenarios)}</span>`,
        kind: 'n',
      },
      {
        head: '95% CI',
        cell: ({ mean, ci_low, ci_high, reasons }) =>
          intervalCell({ value: mean, low: ci_low, high: ci_high, reason: reasons.ci_low, metric }, axis),
        kind: 'ci',
      },
      {
        head: 'Passes',
        cell: ({ n_passed, n_scenarios }) =>
          n_passed === null ? null : withSub(countText(n_passed), `of ${countText(n_scenarios)}`),
        kind: 'n',
      },
      {
        head: 'pass@k · pass^k',
        cell: ({ pass_at_k, pass_hat_k }) => {
          const k = largestK(pass_at_k)
          if (k < 2) return null
          return withSub(
            [pass_at_k?.[k], pass_hat_k?.[k]].map((each) => textOf(each, threeDecimals) ?? '–').join(' · '),
            `k = ${k}`,
          )
        },
        kind: 'n',
      },
      { head: 'Attempts', cell: attemptsCell },
      {
        head: 'Median · p95',
        cell: ({ duration_median_ms, duration_p95_ms }) =>
          duration_median_ms === null
            ? null
            : withSub(
                durationText(duration_median_ms),
                textOf(duration_p95_ms, (ms) => `p95 ${durationText(ms)}`),
              ),
        kind: 'n',
      },
      { head: 'Tokens', cell: (agent) => usageCell(tokensOf(agent), agent.n_with_tokens, agent, compact), kind: 'n' },
      {
        head: 'Cost',
        cell: (agent) => {
          const { cost_usd, n_with_cost, cost_per_solved } = agent
          const sum = usageCell(cost_usd, n_with_cost, agent, usdText)
          return (
            sum &&
            html`${sum}${cost_per_solved !== null && html`<span class="sub">${usdText(cost_per_solved)} per solved</span>`}`
          )
        },
        kind: 'n',
      },
    ],
    agents,
  )
}

const textOf = (value: number | null | undefined, format = countText): string | null =>
  value == null ? null : format(value)

const attemptsCell = ({ n_completed, n_failed, n_timeout, n_cancelled, n_other, n_planned }: AgentFigures): Markup => {
  const made = n_completed + n_failed + n_timeout + n_cancelled + n_other
  const counts: [number, string][] = [
    [n_completed, 'completed'],
    [n_failed, 'failed'],
    [n_timeout, 'timed out'],
    [n_cancelled, 'canceled'],
    [n_other, 'other'],
  ]
  const [first = 'None', ...rest] = [
    ...counts.flatMap(([count, word]) => (count > 0 ? [`${countText(count)} ${word}`] : [])),
    ...((n_planned ?? 0) > made ? [`${countText(made)} of ${countText(n_planned ?? 0)} planned`] : []),
  ]
  return html`<span class="nowrap">${first}</span>${rest.length > 0 && html`<span class="sub">${rest.join(', ')}</span>`}`
}

const tokensOf = ({ n_input_tokens, n_output_tokens }: AgentFigures): number | null =>
  n_input_tokens === null && n_output_tokens === null ? null : (n_input_tokens ?? 0) + (n_output_tokens ?? 0)

const compact = (tokens: number): string =>
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }).format(tokens)

const usdText = (usd: number): string =>
  usd === 0 || usd >= 0.01
    ? `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
    : `$${Number(usd.toPrecision(2))}`

/** A sum, with the number of reporting attempts if not all report. */
const usageCell = (
  sum: number | null,
  n: number,
  agent: AgentFigures,
  format: (sum: number) => string,
): Markup | null => {
  if (sum === null) return null
  const all = agent.n_completed + agent.n_failed + agent.n_timeout + agent.n_cancelled + agent.n_other
  return withSub(format(sum), n === all ? null : `${countText(n)} of ${countText(all)}`)
}

/** `other`: name of the second agent, or of the baseline. */
export const pairTable = (
  caption: string,
  pairs: readonly PairFigures[],
  metric: string | null,
  name: NameOf,
  other: (pair: PairFigures) => string = ({ b }) => name(b),
): Markup => {
  const largest = Math.max(
    0,
    ...pairs.flatMap(({ difference, ci_low, ci_high }) => [difference ?? 0, ci_low ?? 0, ci_high ?? 0].map(Math.abs)),
  )
  const end = [0.1, 0.25, 0.5, 1].find((each) => largest <= each) ?? roundUp(largest)
  return tableOf<PairFigures>(
    `${caption}; axis -${end} to ${end}`,
    [
      { head: 'Pair', cell: (pair) => withSub(name(pair.a), `vs ${other(pair)}`), kind: 'name' },
      {
        head: 'Difference',
        cell: ({ difference, n, reasons }) =>
          difference === null
            ? html`<span class="muted">${reasons.difference ?? 'None'}</span>`
            : html`<b>${signed(difference, metric)}</b><span class="sub">n = ${countText(n)}</span>`,
        kind: 'n',
      },
      {
        head: '95% CI',
        cell: ({ difference, ci_low, ci_high, reasons }) =>
          intervalCell(
            { value: difference, low: ci_low, high: ci_high, reason: reasons.ci_low, metric },
            { low: -end, high: end },
          ),
        kind: 'ci',
      },
      { head: 'p', cell: ({ p_value }) => textOf(p_value, formatP), kind: 'n' },
      { head: 'Adjusted p', cell: ({ p_adjusted }) => textOf(p_adjusted, formatP), kind: 'n' },
      {
        head: 'Discordant',
        cell: ({ only_a_passes, only_b_passes, mcnemar_p }) =>
          only_a_passes === null || only_b_passes === null
            ? null
            : withSub(
                `${countText(only_a_passes)} vs ${countText(only_b_passes)}`,
                textOf(mcnemar_p, (p) => `McNemar ${pText(p)}`),
              ),
        kind: 'n',
      },
      {
        head: 'Significance',
        cell: ({ significant, scenarios_needed, n }) =>
          html`<span class="badge ${significant ? 'ok' : 'neutral'}">${significant ? 'Significant' : 'Not significant'}</span>${
            !significant &&
            scenarios_needed !== null &&
            scenarios_needed > n &&
            html`<span class="sub">${aboutScenarios(scenarios_needed)} needed</span>`
          }`,
      },
    ],
    pairs,
  )
}

/** What an attempt takes. */
export const spent = {
  '@cost_usd': { title: 'Cost', format: usdText },
  '@tokens': { title: 'Tokens', format: compact },
  '@duration_ms': { title: 'Duration', format: durationText },
}

const maxMetrics = 8

/** Means of the metrics that the report doesn't judge. */
export const metricSection = ({ agents, metric }: Pick<Report, 'agents' | 'metric'>, name: NameOf): Markup | null => {
  const others = [...new Set(agents.flatMap(({ metrics }) => Object.keys(metrics)))].filter((each) => each !== metric)
  if (others.length === 0) return null
  return section(
    'Other metrics',
    tableOf<AgentFigures>(
      `Means with 95% CI${others.length > maxMetrics ? `; the first ${maxMetrics} of ${others.length} metrics` : ''}`,
      [
        { head: 'Agent', cell: (agent) => agentCell(agent, name), kind: 'name' },
        ...others.slice(0, maxMetrics).map(
          (each): Column<AgentFigures> => ({
            head: isBuiltIn(each) ? spent[each].title : metricLabel(each),
            cell: ({ metrics: { [each]: figures } }) =>
              figures?.mean == null
                ? null
                : html`${shown(each, figures.mean)}${
                    figures.ci_low !== null &&
                    figures.ci_high !== null &&
                    html`<span class="sub">${shown(each, figures.ci_low)} to ${shown(each, figures.ci_high)}</span>`
                  }<span class="sub">n = ${countText(figures.n_scenarios)}</span>`,
            kind: 'n',
          }),
        ),
      ],
      agents,
    ),
  )
}

const shown = (metric: string, value: number): string =>
  isBuiltIn(metric) ? spent[metric].format(Math.max(0, value)) : threeDecimals(value)

const maxGroups = 20

export const groupSection = (
  { group, groups, group_notes, metric }: GroupReport & Pick<Report, 'metric'>,
  name: NameOf,
): Markup | null => {
  if (groups === null || groups.length === 0) return null
  const shown = groups.slice(0, maxGroups)
  const label = (value: string | null) => (value === null ? 'not set' : truncate(value))
  const agents = shown.flatMap(({ value, agents }) => agents.map((agent) => ({ value, agent })))
  const pairs = shown.flatMap(({ value, pairs }) => pairs.map((pair) => ({ value, pair })))
  return section(
    `Groups by ${truncate(group ?? '')}`,
    tableOf<(typeof agents)[number]>(
      groups.length > maxGroups ? `The first ${maxGroups} of ${groups.length} groups` : 'Means per group',
      [
        { head: 'Group', cell: ({ value }) => label(value), kind: 'name' },
        { head: 'Agent', cell: ({ agent }) => name(agent) },
        {
          head: 'Mean',
          cell: ({ agent: { mean, n_scenarios } }) =>
            mean === null
              ? null
              : html`<b>${metricText(metric, mean)}</b> <span class="muted">n = ${countText(n_scenarios)}</span>`,
          kind: 'n',
        },
        { head: '95% CI', cell: ({ agent }) => rangeText(agent, metric), kind: 'n' },
      ],
      agents,
    ),
    pairs.length === 0
      ? null
      : tableOf<(typeof pairs)[number]>(
          'Differences per group',
          [
            { head: 'Group', cell: ({ value }) => label(value), kind: 'name' },
            { head: 'Pair', cell: ({ pair }) => `${name(pair.a)} vs ${name(pair.b)}` },
            {
              head: 'Difference',
              cell: ({ pair: { difference, n } }) =>
                difference === null
                  ? null
                  : html`<b>${signed(difference, metric)}</b> <span class="muted">n = ${countText(n)}</span>`,
              kind: 'n',
            },
            { head: '95% CI', cell: ({ pair }) => rangeText(pair, metric), kind: 'n' },
            { head: 'Adjusted p', cell: ({ pair }) => textOf(pair.p_adjusted, formatP), kind: 'n' },
          ],
          pairs,
        ),
    group_notes.length === 0 ? null : html`<p class="muted">${group_notes.join(' ')}</p>`,
  )
}

export const rangeText = (
  { ci_low, ci_high }: Pick<AgentFigures, 'ci_low' | 'ci_high'>,
  metric: string | null,
): string | null =>
  ci_low === null || ci_high === null ? null : `${metricText(metric, ci_low)} to ${metricText(metric, ci_high)}`

const maxListed = 200

export const missingScenarios = (scenarios: Report['excluded_scenarios'], name: NameOf): Markup | null =>
  scenarios.length === 0
    ? null
    : section(
        'Scenarios without a score for all agents',
        cutList(scenarios, maxListed, ({ scenario_name, missing_from }) => {
          const whys = missing_from.map(
            (agent) => `${name(agent)}: ${agent.why.replaceAll('_', ' ').replace('cancelled', 'canceled')}`,
          )
          return html`${truncate(scenario_name)} <span class="muted">(${whys.join('; ')})</span>`
        }),
      )
