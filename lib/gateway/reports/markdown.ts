import {
  aboutScenarios,
  byMean,
  changeRules,
  cutPart,
  lossesFirst,
  type NameOf,
  namesOf,
  pairsInOrder,
  probability,
  sameElsewhere,
  sideNames,
  three,
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

/** The scenarios of a list that a message has room for. */
const mostListed = 20

export const reportMarkdown = (report: Report): string => {
  const { job } = report
  const name = namesOf(report.agents)
  return page(`Benchmark job ${text(job.name)}`, [
    ...sentences(report.verdict),
    `${code(job.id)}, ${text(job.state)}, created ${job.create_time_ms === null ? 'at an unknown time' : time(job.create_time_ms)}.${
      report.complete ? '' : ' **Not complete.**'
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
    ...(report.pairs.length === 0 ? [] : ['## Differences', pairTable(pairsInOrder(report.pairs), name)]),
    ...excluded(report.excluded_scenarios, name),
    ...notes(report.notes),
  ])
}

export const compareMarkdown = (report: CompareReport): string => {
  const name = sideNames(report)
  return page('Comparison of benchmark jobs', [
    ...sentences(report.verdict),
    list(report.jobs.map((job) => `${text(job.name)} (${code(job.id)}, ${text(job.state)})`)),
    ...metricLine(report),
    ...(report.incomparable.length === 0
      ? []
      : ['## Not the same in all', list(report.incomparable.map((each) => text(each.text)))]),
    ...(report.not_reported.length === 0
      ? []
      : ['## Not reported by all, and may differ', list(report.not_reported.map(text))]),
    agentTable(report.agents, name),
    ...(report.pairs.length === 0
      ? []
      : [
          '## Differences from the baseline',
          pairTable(report.pairs.toSorted(lossesFirst), name, sameElsewhere(report)),
        ]),
    ...report.pairs.flatMap((pair) => changes(pair, name)),
    ...excluded(report.excluded_scenarios, name),
    ...notes(report.notes),
  ])
}

export const page = (title: string, parts: readonly string[]) => `# ${title}\n\n${parts.filter(Boolean).join('\n\n')}\n`

/** A name may hold anything: it stays in its cell and marks nothing up. */
export const text = (value: string): string => plain(cutPart(value, mostShown))

const mostShown = 300

/** Signs that turn the direction of writing would turn what follows them as well. */
const turning = /\p{Bidi_Control}/gu

const plain = (value: string) =>
  value
    .replace(turning, '')
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]<>#|~!]/g, (sign) => `\\${sign}`)

/** What the page says first. */
export const sentences = (verdict: Verdict | null) =>
  verdict ? [plain(verdict.lead), plain(verdict.more.join(' '))] : []

/** The metric beside the scores, and from which score on an attempt passes if that is not 1. */
export const metricLine = ({
  metric,
  threshold,
  is_unit_range,
}: Pick<Report, 'metric' | 'threshold' | 'is_unit_range'>) => {
  const isUsual = threshold === null || (is_unit_range && threshold === 1)
  const parts = [
    ...(metric === null ? [] : [`Metric: ${code(cutPart(metric))}.`]),
    ...(isUsual ? [] : [`Passes at ${threshold}.`]),
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

/** Without the columns that no row has a value for: a chat is narrow. */
const tellingTable = (heads: readonly string[], rows: readonly (readonly string[])[]) => {
  const isTold = (_: string, at: number) => rows.some((row) => row[at] !== none)
  return table(
    heads.filter(isTold),
    rows.map((row) => row.filter(isTold)),
  )
}

const none = 'n/a'

export const count = (value: number | null) => (value === null ? none : `${value}`)
export const number = (value: number | null) => (value === null ? none : three(value))
export const range = (low: number | null, high: number | null) =>
  low === null || high === null ? none : `${number(low)} to ${number(high)}`
export const p = (value: number | null) => (value === null ? none : probability(value))
const seconds = (ms: number | null) => (ms === null ? none : `${(ms / 1000).toFixed(1)} s`)

/** Under a heading: two lists in a row would be one. */
export const notes = (sentences: readonly string[]) => ['## What the numbers mean', list(sentences.map(plain))]

const agentTable = (agents: readonly AgentFigures[], name: NameOf) => {
  if (agents.length === 0) return 'No agent has an outcome yet.'
  const ks = ksOf(agents).filter(
    (k) => k === '1' || agents.some(({ pass_at_k }) => Object.keys(pass_at_k ?? {}).length > 1),
  )
  return tellingTable(
    [
      'Agent',
      'Mean',
      '95 % interval',
      'Scenarios',
      'Attempts',
      ...ks.flatMap((k) => [`pass@${k}`, ...(k === '1' ? [] : [`pass^${k}`])]),
      'Completed',
      'Failed',
      'Timed out',
      'Cancelled',
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
      told(agent.n_input_tokens, agent.n_with_tokens, agent),
      told(agent.n_output_tokens, agent.n_with_tokens, agent),
      told(agent.cost_usd, agent.n_with_cost, agent, (cost) => `$${cost.toFixed(4)}`),
      agent.rank_low === null
        ? (agent.reasons.rank_low ?? none)
        : agent.rank_low === agent.rank_high
          ? `${agent.rank_low}`
          : `${agent.rank_low} to ${agent.rank_high}`,
    ]),
  )
}

/** A sum, with how many of the attempts it is of where that is not all. */
const told = (sum: number | null, n: number, agent: AgentFigures, shown = (value: number) => `${value}`) => {
  if (sum === null) return none
  const all = agent.n_completed + agent.n_failed + agent.n_timeout + agent.n_cancelled + agent.n_other
  return n === all ? shown(sum) : `${shown(sum)} (${n} of ${all} attempts)`
}

const pairTable = (
  pairs: readonly PairFigures[],
  name: NameOf,
  elsewhere: (pair: PairFigures) => string | undefined = () => undefined,
) =>
  table(
    [
      'Pair',
      'Difference',
      '95 % interval',
      'n',
      'p',
      'Adjusted p',
      'Only first passes',
      'Only second passes',
      'McNemar p',
      'Settled',
    ],
    pairs.map((pair) => [
      `${text(name(pair.a))} over ${text(overWords(pair, name, elsewhere(pair)))}`,
      number(pair.difference),
      range(pair.ci_low, pair.ci_high),
      `${pair.n}`,
      p(pair.p_value),
      p(pair.p_adjusted),
      count(pair.only_a_passes),
      count(pair.only_b_passes),
      p(pair.mcnemar_p),
      pair.settled
        ? 'yes'
        : pair.scenarios_to_settle !== null && pair.scenarios_to_settle > pair.n
          ? `no; ${aboutScenarios(pair.scenarios_to_settle)} would`
          : 'no',
    ]),
  )

const overWords = ({ b }: PairFigures, name: NameOf, elsewhere: string | undefined) =>
  elsewhere === undefined ? name(b) : `the same in ${elsewhere}`

const excluded = (scenarios: Report['excluded_scenarios'], name: NameOf) =>
  scenarios.length === 0
    ? []
    : [
        `## Scenarios not common to all: ${scenarios.length}`,
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
    `## ${text(name(pair.a))}, with ${text(name(pair.b))} as the baseline`,
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
    ...values.slice(0, mostListed).map(shown),
    ...(values.length > mostListed ? [`and ${values.length - mostListed} more`] : []),
  ])
