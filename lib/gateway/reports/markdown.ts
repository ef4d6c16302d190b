import {
  aboutScenarios,
  byMean,
  changeRules,
  formatP,
  lossesFirst,
  type NameOf,
  namesOf,
  runNames,
  sameAgentJob,
  sortPairs,
  threeDecimals,
  truncate,
} from '#lib/protocol/report-words.ts'
import type {
  AgentFigures,
  ComparedPair,
  CompareReport,
  PairFigures,
  Report,
  ScenarioChange,
  Verdict,
} from '#lib/protocol/reports.ts'
import { ksOf } from './csv.ts'

const maxListed = 20

export const reportMarkdown = (report: Report): string => {
  const { job } = report
  const name = namesOf(report.agents)
  return page(`Benchmark job ${text(job.name)}`, [
    ...sentences(report.verdict),
    `${code(job.id)}, ${text(job.state)}, created ${job.create_time_ms === null ? 'at an unknown time' : time(job.create_time_ms)}.${
      report.complete ? '' : ' **Incomplete.**'
    }`,
    ...metricLine(report),
    agentTable(
      report.agents.toSorted(
        byMean(
          ({ agent_name }) => agent_name,
          (figures) => figures,
        ),
      ),
      name,
    ),
    ...(report.pairs.length === 0 ? [] : ['## Differences', pairTable(sortPairs(report.pairs), name)]),
    ...excluded(report.excluded_scenarios, name),
    ...notes(report.notes),
  ])
}

export const compareMarkdown = (report: CompareReport): string => {
  const name = runNames(report)
  return page('Comparison of benchmark jobs', [
    ...sentences(report.verdict),
    list(report.jobs.map((job) => `${text(job.name)} (${code(job.id)}, ${text(job.state)})`)),
    ...metricLine(report),
    ...(report.incomparable.length === 0
      ? []
      : ['## Differences between the jobs', list(report.incomparable.map((each) => text(each.text)))]),
    ...(report.not_reported.length === 0 ? [] : ['## Not reported by all jobs', list(report.not_reported.map(text))]),
    agentTable(report.agents, name),
    ...(report.pairs.length === 0
      ? []
      : [
          '## Differences from the baseline',
          pairTable(report.pairs.toSorted(lossesFirst), name, sameAgentJob(report)),
        ]),
    ...report.pairs.flatMap((pair) => changes(pair, name)),
    ...excluded(report.excluded_scenarios, name),
    ...notes(report.notes),
  ])
}

export const page = (title: string, parts: readonly string[]) => `# ${title}\n\n${parts.filter(Boolean).join('\n\n')}\n`

/** Escapes Markdown and drops bidi controls and line breaks. */
export const text = (value: string): string => escaped(truncate(value, 300))

const escaped = (value: string) =>
  value
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]<>#|~!]/g, (sign) => `\\${sign}`)

export const sentences = (verdict: Verdict | null) =>
  verdict ? [escaped(verdict.lead), escaped(verdict.more.join(' '))] : []

/** Omits the default threshold. */
export const metricLine = ({
  metric,
  threshold,
  is_unit_range,
}: Pick<Report, 'metric' | 'threshold' | 'is_unit_range'>) => {
  const isUsual = threshold === null || (is_unit_range && threshold === 1)
  const parts = [
    ...(metric === null ? [] : [`Metric: ${code(truncate(metric))}.`]),
    ...(isUsual ? [] : [`Pass threshold: ${threshold}.`]),
  ]
  return parts.length === 0 ? [] : [parts.join(' ')]
}

export const code = (value: string) => `\`${value.replace(/[`\s|]/g, '')}\``

export const time = (ms: number | null) =>
  ms !== null && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : 'unknown'

export const list = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n')

export const table = (heads: readonly string[], rows: readonly (readonly string[])[]) =>
  [heads, heads.map((head, i) => (i === 0 || head === '' ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')

/** Drops columns without a value, as chats are narrow. */
const compactTable = (heads: readonly string[], rows: readonly (readonly string[])[]) => {
  const hasValue = (_: string, at: number) => rows.some((row) => row[at] !== none)
  return table(
    heads.filter(hasValue),
    rows.map((row) => row.filter(hasValue)),
  )
}

const none = 'n/a'

export const count = (value: number | null) => (value === null ? none : `${value}`)
export const number = (value: number | null) => (value === null ? none : threeDecimals(value))
export const range = (low: number | null, high: number | null) =>
  low === null || high === null ? none : `${number(low)} to ${number(high)}`
export const p = (value: number | null) => (value === null ? none : formatP(value))
const seconds = (ms: number | null) => (ms === null ? none : `${(ms / 1000).toFixed(1)} s`)

/** The heading keeps two adjacent lists apart. */
export const notes = (sentences: readonly string[]) => ['## Notes', list(sentences.map(escaped))]

const agentTable = (agents: readonly AgentFigures[], name: NameOf) => {
  if (agents.length === 0) return 'No agent has an outcome yet.'
  const ks = ksOf(agents).filter(
    (k) => k === '1' || agents.some(({ pass_at_k }) => Object.keys(pass_at_k ?? {}).length > 1),
  )
  return compactTable(
    [
      'Agent',
      'Mean',
      '95% CI',
      'Scenarios',
      'Attempts',
      ...ks.flatMap((k) => [`pass@${k}`, ...(k === '1' ? [] : [`pass^${k}`])]),
      'Completed',
      'Failed',
      'Timed out',
      'Canceled',
      'Median',
      'p95',
      'Tokens in',
      'Tokens out',
      'Cost',
      'Rank',
    ],
    agents.map((agent) => [
      text(name(agent)),
      number(agent.mean),
      range(agent.ci_low, agent.ci_high),
      `${agent.n_scenarios}`,
      `${agent.n_attempts}`,
      ...ks.flatMap((k) => [
        number(agent.pass_at_k?.[k] ?? null),
        ...(k === '1' ? [] : [number(agent.pass_hat_k?.[k] ?? null)]),
      ]),
      `${agent.n_completed}`,
      `${agent.n_failed}`,
      `${agent.n_timeout}`,
      `${agent.n_cancelled}`,
      seconds(agent.duration_median_ms),
      seconds(agent.duration_p95_ms),
      usage(agent.n_input_tokens, agent.n_with_tokens, agent),
      usage(agent.n_output_tokens, agent.n_with_tokens, agent),
      usage(agent.cost_usd, agent.n_with_cost, agent, (cost) => `$${cost.toFixed(4)}`),
      agent.rank_low === null
        ? (agent.reasons.rank_low ?? none)
        : agent.rank_low === agent.rank_high
          ? `${agent.rank_low}`
          : `${agent.rank_low} to ${agent.rank_high}`,
    ]),
  )
}

/** A sum, with the number of reporting attempts if not all report. */
const usage = (sum: number | null, n: number, agent: AgentFigures, shown = (value: number) => `${value}`) => {
  if (sum === null) return none
  const all = agent.n_completed + agent.n_failed + agent.n_timeout + agent.n_cancelled + agent.n_other
  return n === all ? shown(sum) : `${shown(sum)} (${n} of ${all} attempts)`
}

const pairTable = (
  pairs: readonly PairFigures[],
  name: NameOf,
  baselineJob: (pair: PairFigures) => string | undefined = () => undefined,
) =>
  table(
    [
      'Pair',
      'Difference',
      '95% CI',
      'n',
      'p',
      'Adjusted p',
      'Only first passes',
      'Only second passes',
      'McNemar p',
      'Significant',
    ],
    pairs.map((pair) => [
      `${text(name(pair.a))} vs ${text(baselineName(pair, name, baselineJob(pair)))}`,
      number(pair.difference),
      range(pair.ci_low, pair.ci_high),
      `${pair.n}`,
      p(pair.p_value),
      p(pair.p_adjusted),
      count(pair.only_a_passes),
      count(pair.only_b_passes),
      p(pair.mcnemar_p),
      pair.significant
        ? 'yes'
        : pair.scenarios_needed !== null && pair.scenarios_needed > pair.n
          ? `no; ${aboutScenarios(pair.scenarios_needed)} needed`
          : 'no',
    ]),
  )

const baselineName = ({ b }: PairFigures, name: NameOf, job: string | undefined) =>
  job === undefined ? name(b) : `the same in ${job}`

const excluded = (scenarios: Report['excluded_scenarios'], name: NameOf) =>
  scenarios.length === 0
    ? []
    : [
        `## Excluded scenarios: ${scenarios.length}`,
        cut(scenarios, ({ scenario_name, missing_from }) => {
          const whys = missing_from.map((agent) => `${text(name(agent))}: ${agent.why.replaceAll('_', ' ')}`)
          return `${text(scenario_name)} (${whys.join('; ')})`
        }),
      ]

const changes = (pair: ComparedPair, name: NameOf): string[] => {
  const part = (title: string, kind: keyof typeof changeRules, shown: (change: ScenarioChange) => string) => {
    const changed = pair[kind] ?? []
    return changed.length === 0
      ? []
      : [`### ${title}: ${changed.length} of ${pair.n}`, `Rule: ${changeRules[kind]}.`, cut(changed, shown)]
  }
  const scores = ({ scenario_name, before, after }: ScenarioChange) =>
    `${text(scenario_name)}: ${number(before)} to ${number(after)}`
  return [
    `## ${text(name(pair.a))} vs baseline ${text(name(pair.b))}`,
    ...part('New failures', 'new_failures', scores),
    ...part('Worse', 'worse', scores),
    ...part('New passes', 'new_passes', scores),
    ...part('Better', 'better', scores),
    ...part('Still failing', 'still_failing', scores),
    ...part(
      'Slower',
      'slower',
      (each) =>
        `${text(each.scenario_name)}: ${seconds(each.duration_before_ms)} to ${seconds(each.duration_after_ms)}`,
    ),
  ]
}

const cut = <T>(values: readonly T[], shown: (value: T) => string) =>
  list([
    ...values.slice(0, maxListed).map(shown),
    ...(values.length > maxListed ? [`and ${values.length - maxListed} more`] : []),
  ])
