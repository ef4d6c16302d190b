import { reasonLabels } from '#lib/protocol/marks.ts'
import {
  aboutScenarios,
  byMean,
  changeRules,
  exclusionScope,
  formatP,
  lossesFirst,
  metricLabel,
  metricText,
  type NameOf,
  namesOf,
  runNames,
  sameAgentJob,
  sortPairs,
  truncate,
} from '#lib/protocol/report-words.ts'
import type {
  AgentFigures,
  AgentIdentity,
  ComparedPair,
  CompareReport,
  FailureGroupFigures,
  GroupReport,
  LabelCount,
  PairFigures,
  Report,
  ReportedExclusion,
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
          report.lower_is_better,
        ),
      ),
      name,
      report.metric,
    ),
    ...metricTable(report, name),
    ...failures(report, name),
    ...(report.pairs.length === 0 ? [] : ['## Differences', pairTable(sortPairs(report.pairs), name, report.metric)]),
    ...groups(report, name),
    ...excluded(report.excluded_scenarios, name),
    ...exclusions(report, report.agents, name, ...tablesOf(report, name)),
    ...labels(report, report.agents, name),
    ...notes(report.notes),
  ])
}

export const compareMarkdown = (report: CompareReport): string => {
  const name = runNames(report)
  return page('Comparison of benchmark jobs', [
    ...(report.gate ? [`**${escaped(report.gate.sentence)}**`] : []),
    ...sentences(report.verdict),
    list(report.jobs.map((job) => `${text(job.name)} (${code(job.id)}, ${text(job.state)})`)),
    ...metricLine(report),
    ...(report.incomparable.length === 0
      ? []
      : ['## Differences between the jobs', list(report.incomparable.map((each) => text(each.text)))]),
    ...(report.not_reported.length === 0 ? [] : ['## Not reported by all jobs', list(report.not_reported.map(text))]),
    agentTable(report.agents, name, report.metric),
    ...metricTable(report, name),
    ...(report.pairs.length === 0
      ? []
      : [
          '## Differences from the baseline',
          pairTable(report.pairs.toSorted(lossesFirst), name, report.metric, sameAgentJob(report)),
        ]),
    ...groups(report, name),
    ...report.pairs.flatMap((pair) => changes(pair, name, report.metric)),
    ...excluded(report.excluded_scenarios, name),
    ...exclusions(report, report.agents, name, ...tablesOf(report, name, sameAgentJob(report))),
    ...labels(report, report.agents, name),
    ...notes(report.notes),
  ])
}

/** Agents and pairs with exclusions ignored. */
const tablesOf = (
  { exclusions, metric, lower_is_better }: Report | CompareReport,
  name: NameOf,
  baselineJob?: (pair: PairFigures) => string | undefined,
) => {
  const { agents, pairs } = exclusions?.without ?? { agents: [], pairs: [] }
  return [
    agentTable(
      agents.toSorted(
        byMean(
          ({ agent_name }) => agent_name,
          (figures) => figures,
          lower_is_better,
        ),
      ),
      name,
      metric,
    ),
    pairs.length === 0
      ? ''
      : pairTable(baselineJob ? pairs.toSorted(lossesFirst) : sortPairs(pairs), name, metric, baselineJob),
  ]
}

/** What is excluded, and `tables` with the figures if it weren't. */
export const exclusions = (
  { exclusions }: Pick<Report, 'exclusions'>,
  agents: readonly AgentIdentity[],
  name: NameOf,
  ...tables: readonly string[]
): string[] => {
  if (exclusions === null) return []
  const { rule, items, without } = exclusions
  return [
    '## Exclusions',
    rule,
    table<ReportedExclusion>(
      [
        ['Scenario', ({ scenario_name }) => text(scenario_name)],
        ['Excluded', (item) => text(exclusionScope(item, agents, name))],
        ['Attempts', ({ n_attempts }) => (n_attempts === 0 ? 'no match' : `${n_attempts}`)],
        ['Reason', ({ reason }) => reasonLabels[reason]],
        ['Note', ({ note }) => text(note)],
        ['By', ({ by, at_ms }) => `${text(by)}, ${time(at_ms)}`],
      ],
      items,
    ),
    ...(without
      ? ['### With nothing excluded', ...(without.verdict ? [escaped(without.verdict.lead)] : []), ...tables]
      : []),
  ]
}

export const labels = (
  { labels }: Pick<Report, 'labels'>,
  agents: readonly AgentIdentity[],
  name: NameOf,
): string[] => {
  if (labels.length === 0) return []
  const names = new Map(agents.map((agent) => [agent.benchmark_run_id, name(agent)]))
  return [
    '## Labels',
    "Labels don't affect any figure.",
    table<LabelCount>(
      [
        ['Label', ({ label }) => text(label)],
        ['Attempts', ({ n_attempts }) => `${n_attempts}`],
        [
          'By agent',
          ({ agents }) => agents.map((each) => `${text(names.get(each.benchmark_run_id) ?? '')} ${each.n}`).join(', '),
        ],
      ],
      labels,
    ),
  ]
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

/** Omits the default direction and threshold. */
export const metricLine = ({
  metric,
  threshold,
  is_unit_range,
  lower_is_better,
}: Pick<Report, 'metric' | 'threshold' | 'is_unit_range' | 'lower_is_better'>) => {
  const isUsual = threshold === null || (is_unit_range && threshold === 1)
  const parts = [
    ...(metric === null ? [] : [`Metric: ${code(truncate(metric))}.`]),
    ...(lower_is_better ? ['Lower is better.'] : []),
    ...(isUsual ? [] : [`Pass threshold: ${threshold}.`]),
  ]
  return parts.length === 0 ? [] : [parts.join(' ')]
}

export const code = (value: string) => `\`${value.replace(/[`\s|]/g, '')}\``

export const time = (ms: number | null) =>
  ms !== null && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : 'unknown'

export const list = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n')

export type Column<T> = readonly [head: string, cell: (row: T) => string]

export const table = <T>(columns: readonly Column<T>[], rows: readonly T[]) =>
  [
    columns.map(([head]) => head),
    columns.map((_, i) => (i === 0 ? '---' : '---:')),
    ...rows.map((row) => columns.map(([, cell]) => cell(row))),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')

export const none = 'n/a'

export const count = (value: number | null | undefined) => `${value ?? none}`
export const number = (value: number | null | undefined, metric?: string | null) =>
  value == null ? none : metricText(metric, value)
export const range = (low: number | null | undefined, high: number | null | undefined, metric?: string | null) =>
  low == null || high == null ? none : `${number(low, metric)} to ${number(high, metric)}`
export const p = (value: number | null | undefined) => (value == null ? none : formatP(value))
const seconds = (ms: number | null) => (ms === null ? none : `${(ms / 1000).toFixed(1)} s`)

/** The heading keeps two adjacent lists apart. */
export const notes = (sentences: readonly string[]) => ['## Notes', list(sentences.map(escaped))]

/** Metrics besides the judged one. */
const metricTable = (
  { agents, metric: judged }: Pick<Report, 'metric'> & { agents: readonly AgentFigures[] },
  name: NameOf,
): string[] => {
  const rows = agents.flatMap((agent) =>
    Object.entries(agent.metrics).flatMap(([metric, figures]) =>
      metric === judged ? [] : [{ agent, metric, figures }],
    ),
  )
  if (rows.length === 0) return []
  const shown = (metric: string, value: number | null) => (value === null ? none : metricText(metric, value))
  return [
    '## Other metrics',
    table<(typeof rows)[number]>(
      [
        ['Agent', ({ agent }) => text(name(agent))],
        ['Metric', ({ metric }) => text(metricLabel(metric))],
        ['Mean', ({ metric, figures }) => shown(metric, figures.mean)],
        [
          '95% CI',
          ({ metric, figures: { ci_low, ci_high } }) =>
            ci_low === null || ci_high === null ? none : `${shown(metric, ci_low)} to ${shown(metric, ci_high)}`,
        ],
        ['Scenarios', ({ figures }) => `${figures.n_scenarios}`],
        ['Attempts', ({ figures }) => `${figures.n_attempts}`],
      ],
      rows,
    ),
  ]
}

const agentTable = (agents: readonly AgentFigures[], name: NameOf, metric: string | null) => {
  if (agents.length === 0) return 'No agent has an outcome yet.'
  const ks = ksOf(agents).filter(
    (k) => k === '1' || agents.some(({ pass_at_k }) => Object.keys(pass_at_k ?? {}).length > 1),
  )
  const columns: Column<AgentFigures>[] = [
    ['Agent', (agent) => text(name(agent))],
    ['Mean', ({ mean }) => number(mean, metric)],
    ['95% CI', ({ ci_low, ci_high }) => range(ci_low, ci_high, metric)],
    ['Scenarios', ({ n_scenarios }) => `${n_scenarios}`],
    ['Attempts', ({ n_attempts }) => `${n_attempts}`],
    ...ks.flatMap((k): Column<AgentFigures>[] => [
      [`pass@${k}`, ({ pass_at_k }) => number(pass_at_k?.[k] ?? null)],
      ...(k === '1'
        ? []
        : [[`pass^${k}`, ({ pass_hat_k }) => number(pass_hat_k?.[k] ?? null)] as Column<AgentFigures>]),
    ]),
    ['Completed', ({ n_completed }) => `${n_completed}`],
    ['Failed', ({ n_failed }) => `${n_failed}`],
    ['Timed out', ({ n_timeout }) => `${n_timeout}`],
    ['Canceled', ({ n_cancelled }) => `${n_cancelled}`],
    ['Median', ({ duration_median_ms }) => seconds(duration_median_ms)],
    ['p95', ({ duration_p95_ms }) => seconds(duration_p95_ms)],
    ['Tokens in', (agent) => usage(agent.n_input_tokens, agent.n_with_tokens, agent)],
    ['Tokens out', (agent) => usage(agent.n_output_tokens, agent.n_with_tokens, agent)],
    ['Cost', (agent) => usage(agent.cost_usd, agent.n_with_cost, agent, dollars)],
    ['Cost per solved', ({ cost_per_solved }) => (cost_per_solved === null ? none : dollars(cost_per_solved))],
    [
      'Rank',
      ({ rank_low, rank_high, reasons }) =>
        rank_low === null
          ? (reasons.rank_low ?? none)
          : rank_low === rank_high
            ? `${rank_low}`
            : `${rank_low} to ${rank_high}`,
    ],
  ]
  // Without empty columns: chats are narrow.
  return table(
    columns.filter(([, cell]) => agents.some((agent) => cell(agent) !== none)),
    agents,
  )
}

const dollars = (usd: number) => `$${usd.toFixed(4)}`

/** A sum, with the number of reporting attempts if not all report. */
const usage = (sum: number | null, n: number, agent: AgentFigures, shown = (value: number) => `${value}`) => {
  if (sum === null) return none
  const all = agent.n_completed + agent.n_failed + agent.n_timeout + agent.n_cancelled + agent.n_other
  return n === all ? shown(sum) : `${shown(sum)} (${n} of ${all} attempts)`
}

const pairTable = (
  pairs: readonly PairFigures[],
  name: NameOf,
  metric: string | null,
  baselineJob: (pair: PairFigures) => string | undefined = () => undefined,
) => {
  const baselineName = (pair: PairFigures) => {
    const job = baselineJob(pair)
    return job === undefined ? name(pair.b) : `the same in ${job}`
  }
  return table<PairFigures>(
    [
      ['Pair', (pair) => `${text(name(pair.a))} vs ${text(baselineName(pair))}`],
      ['Difference', ({ difference }) => number(difference, metric)],
      ['95% CI', ({ ci_low, ci_high }) => range(ci_low, ci_high, metric)],
      ['n', ({ n }) => `${n}`],
      ['p', ({ p_value }) => p(p_value)],
      ['Adjusted p', ({ p_adjusted }) => p(p_adjusted)],
      ['Only first passes', ({ only_a_passes }) => count(only_a_passes)],
      ['Only second passes', ({ only_b_passes }) => count(only_b_passes)],
      ['McNemar p', ({ mcnemar_p }) => p(mcnemar_p)],
      [
        'Significant',
        ({ significant, scenarios_needed, n }) =>
          significant
            ? 'yes'
            : scenarios_needed !== null && scenarios_needed > n
              ? `no; ${aboutScenarios(scenarios_needed)} needed`
              : 'no',
      ],
    ],
    pairs,
  )
}

const groups = (
  { group, groups, group_notes, metric }: GroupReport & Pick<Report, 'metric'>,
  name: NameOf,
): string[] => {
  if (groups === null) return []
  const shown = groups.slice(0, maxListed)
  const groupName = ({ value }: { value: string | null }) => (value === null ? 'not set' : text(value))
  const agents = shown.flatMap(({ value, agents }) => agents.map((agent) => ({ value, agent })))
  const pairs = shown.flatMap(({ value, pairs }) => pairs.map((pair) => ({ value, pair })))
  return [
    `## Groups by ${code(truncate(group ?? ''))}`,
    table(
      [
        ['Group', groupName],
        ['Agent', ({ agent }) => text(name(agent))],
        ['Scenarios', ({ agent }) => `${agent.n_scenarios}`],
        ['Attempts', ({ agent }) => `${agent.n_attempts}`],
        ['Mean', ({ agent }) => number(agent.mean, metric)],
        ['95% CI', ({ agent }) => range(agent.ci_low, agent.ci_high, metric)],
      ],
      agents,
    ),
    ...(pairs.length === 0
      ? []
      : [
          table(
            [
              ['Group', groupName],
              ['Pair', ({ pair }) => `${text(name(pair.a))} vs ${text(name(pair.b))}`],
              ['Difference', ({ pair }) => number(pair.difference, metric)],
              ['95% CI', ({ pair }) => range(pair.ci_low, pair.ci_high, metric)],
              ['n', ({ pair }) => `${pair.n}`],
              ['p', ({ pair }) => p(pair.p_value)],
              ['Adjusted p', ({ pair }) => p(pair.p_adjusted)],
            ],
            pairs,
          ),
        ]),
    [
      ...(groups.length > maxListed ? [`Showing ${maxListed} of ${groups.length} groups.`] : []),
      ...group_notes.map(escaped),
    ].join(' '),
  ]
}

const failures = ({ failure_groups, agents }: Report, name: NameOf) => {
  if (failure_groups.length === 0) return []
  const names = new Map(agents.map((agent) => [agent.benchmark_run_id, name(agent)]))
  const columns: Column<FailureGroupFigures>[] = [
    ['Failure', ({ title, message }) => text(message === '' ? title : `${title}: ${message}`)],
    ['Attempts', ({ n_attempts }) => count(n_attempts)],
    ['Scenarios', ({ n_scenarios }) => count(n_scenarios)],
    ['Points lost', ({ points }) => number(points)],
    [
      'By agent',
      (group) =>
        group.agents.map((each) => `${text(names.get(each.benchmark_run_id) ?? '')} ${each.n_attempts}`).join(', '),
    ],
  ]
  const shown = failure_groups.slice(0, maxListed)
  const more = failure_groups.length - shown.length
  return ['## Failures', table(columns, shown), ...(more > 0 ? [`And ${more} more groups.`] : [])]
}

const excluded = (scenarios: Report['excluded_scenarios'], name: NameOf) =>
  scenarios.length === 0
    ? []
    : [
        `## Scenarios without a score for all agents: ${scenarios.length}`,
        cut(scenarios, ({ scenario_name, missing_from }) => {
          const whys = missing_from.map((agent) => `${text(name(agent))}: ${agent.why.replaceAll('_', ' ')}`)
          return `${text(scenario_name)} (${whys.join('; ')})`
        }),
      ]

const changes = (pair: ComparedPair, name: NameOf, metric: string | null): string[] => {
  const part = (title: string, kind: keyof typeof changeRules, shown: (change: ScenarioChange) => string) => {
    const changed = pair[kind] ?? []
    return changed.length === 0
      ? []
      : [`### ${title}: ${changed.length} of ${pair.n}`, `Rule: ${changeRules[kind]}.`, cut(changed, shown)]
  }
  const scores = ({ scenario_name, before, after }: ScenarioChange) =>
    `${text(scenario_name)}: ${number(before, metric)} to ${number(after, metric)}`
  const durations = ({ scenario_name, duration_before_ms, duration_after_ms }: ScenarioChange) =>
    `${text(scenario_name)}: ${seconds(duration_before_ms)} to ${seconds(duration_after_ms)}`
  return [
    `## ${text(name(pair.a))} vs baseline ${text(name(pair.b))}`,
    ...part('New failures', 'new_failures', scores),
    ...part('Worse', 'worse', scores),
    ...part('New passes', 'new_passes', scores),
    ...part('Better', 'better', scores),
    ...part('Still failing', 'still_failing', scores),
    ...part('Slower', 'slower', durations),
  ]
}

const cut = <T>(values: readonly T[], shown: (value: T) => string) =>
  list([
    ...values.slice(0, maxListed).map(shown),
    ...(values.length > maxListed ? [`and ${values.length - maxListed} more`] : []),
  ])
