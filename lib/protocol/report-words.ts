import { isControl, significanceLevel } from '#lib/statistics/figures.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'
import type {
  AgentIdentity,
  ComparedPair,
  CompareReport,
  PairFigures,
  ReportedExclusion,
  ScoreScale,
  TrendPoint,
} from './reports.ts'

/** Truncates a name without splitting a character. */
export const truncate = (part: string, max = 120): string =>
  part.length <= max ? part : `${[...part.slice(0, max + 1)].slice(0, -1).join('')}…`

interface LabeledAgent {
  name: string
  model: string | null | undefined
  differs?: string | undefined
}

export const agentLabel = ({ name, model, differs }: LabeledAgent): string => {
  const shown = truncate(name.trim() || 'Unnamed agent')
  return `${shown}${model?.trim() ? ` · ${truncate(model)}` : ''}${differs === undefined ? '' : ` (${differs})`}`
}

export const labelOf = (agent: AgentIdentity): string => agentLabel(labeledAgent(agent))

export const labeledAgent = ({ agent_name: name, model_name: model, differs }: AgentIdentity) => ({
  name,
  model,
  ...(differs !== undefined && { differs }),
})

export type NameOf = (agent: AgentIdentity) => string

export const repeatSuffixes = (labels: readonly string[]): string[] =>
  labels.map((label, at) => {
    const count = labels.filter((each) => each === label).length
    const number = labels.slice(0, at + 1).filter((each) => each === label).length
    return count > 1 ? ` (${number} of ${count})` : ''
  })

/** Names the agents of a report; a job may list the same agent twice with the same settings. */
export const namesOf = (agents: readonly AgentIdentity[]): NameOf => {
  const suffixes = repeatSuffixes(agents.map((agent) => JSON.stringify([agent.job_id, labelOf(agent)])))
  const names = new Map(agents.map((agent, at) => [agent.benchmark_run_id, `${labelOf(agent)}${suffixes[at]}`]))
  return (agent) => names.get(agent.benchmark_run_id) ?? labelOf(agent)
}

export const runNames = ({ jobs, agents }: Pick<CompareReport, 'jobs' | 'agents'>): NameOf => {
  const jobNames = new Map(jobs.map(({ id, name }) => [id, name]))
  const name = namesOf(agents)
  return (agent) =>
    jobs.length > 1 ? `${name(agent)} in ${truncate(jobNames.get(agent.job_id) ?? agent.job_id)}` : name(agent)
}

/** Returns the baseline's job name if the baseline is the same agent with the same settings in another job. */
export const sameAgentJob =
  ({ jobs }: Pick<CompareReport, 'jobs'>) =>
  ({ a, b }: Pick<PairFigures, 'a' | 'b'>): string | undefined => {
    const isSame = labelOf(a) === labelOf(b) && a.job_id !== b.job_id
    const job = isSame ? jobs.find(({ id }) => id === b.job_id) : undefined
    return job && truncate(job.name)
  }

/** Which attempts of its scenario an exclusion covers. */
export const exclusionScope = (
  { attempt_id, attempt }: Pick<ReportedExclusion, 'attempt_id' | 'attempt'>,
  agents: readonly AgentIdentity[],
  name: NameOf,
): string => {
  if (attempt_id === null) return 'All agents'
  const agent = agents.find(({ benchmark_run_id }) => benchmark_run_id === attempt?.benchmark_run_id)
  return attempt && agent ? `Attempt ${attempt.position} of ${name(agent)}` : 'An attempt that no longer exists'
}

/** The difference, above 0 if the first agent is better. */
export const gainOf = ({ difference, lower_is_better }: Pick<PairFigures, 'difference' | 'lower_is_better'>) =>
  difference === null ? null : lower_is_better ? -difference : difference

export const lossesFirst = (a: PairFigures, b: PairFigures): number =>
  (gainOf(a) ?? Number.MAX_VALUE) - (gainOf(b) ?? Number.MAX_VALUE)

/** Swaps a pair so that the agent with the better mean comes first. */
export const leaderFirst = (pair: PairFigures): PairFigures => ((gainOf(pair) ?? 0) >= 0 ? pair : swapped(pair))

export const swapped = (pair: PairFigures): PairFigures => {
  return {
    ...pair,
    a: pair.b,
    b: pair.a,
    mean_a: pair.mean_b,
    mean_b: pair.mean_a,
    difference: pair.difference === null ? null : -pair.difference,
    ci_low: pair.ci_high === null ? null : -pair.ci_high,
    ci_high: pair.ci_low === null ? null : -pair.ci_low,
    only_a_passes: pair.only_b_passes,
    only_b_passes: pair.only_a_passes,
  }
}

/** The order of a table of pairs: each leaderFirst, the largest lead first, and those with nop or oracle last. */
export const sortPairs = (pairs: readonly PairFigures[]): PairFigures[] => {
  const hasControl = ({ a, b }: PairFigures) => isControl(a.agent_name) || isControl(b.agent_name)
  return pairs
    .map(leaderFirst)
    .sort((a, b) => Number(hasControl(a)) - Number(hasControl(b)) || (gainOf(b) ?? -1) - (gainOf(a) ?? -1))
}

export const byMean =
  <T>(nameOf: (row: T) => string, figuresOf: (row: T) => { mean: number | null } | null, isLowerBetter = false) =>
  (a: T, b: T): number =>
    Number(isControl(nameOf(a))) - Number(isControl(nameOf(b))) ||
    betterFirst(figuresOf(a)?.mean, figuresOf(b)?.mean, isLowerBetter)

const betterFirst = (a: number | null | undefined, b: number | null | undefined, isLowerBetter: boolean): number =>
  a == null || b == null ? Number(a == null) - Number(b == null) : isLowerBetter ? a - b : b - a

export const threeDecimals = (value: number): string =>
  Number.isNaN(value) ? 'unknown' : value.toFixed(3).replace(/^-(0\.000)$/, '$1')

/** A value of a metric with its unit. */
export const metricText = (metric: string | null | undefined, value: number): string => {
  if (!isBuiltIn(metric)) return threeDecimals(value)
  const sign = value < 0 ? '-' : ''
  const size = Math.abs(value)
  return {
    '@cost_usd': `${sign}$${size.toFixed(size < 1 ? 4 : 2)}`,
    '@duration_ms': `${sign}${(size / 1000).toFixed(size < 10_000 ? 3 : 1)} s`,
    '@tokens': value.toLocaleString('en-US', { maximumFractionDigits: size < 100 ? 1 : 0 }),
  }[metric]
}

export const amount = (difference: number, metric?: string | null): string => {
  const shown = metricText(metric, Math.abs(difference))
  return shown === '0.000' ? 'less than 0.001' : shown
}

/** The verb and the amount of a difference: `scores 0.150 higher`, `costs $0.02 less`. */
export const differenceWords = (
  difference: number,
  isLowerBetter: boolean,
  metric: string | null | undefined,
): string => {
  const size = amount(difference, metric)
  const isHigher = difference > 0
  if (isBuiltIn(metric))
    return {
      '@cost_usd': `costs ${size} ${isHigher ? 'more' : 'less'}`,
      '@duration_ms': `takes ${size} ${isHigher ? 'longer' : 'less'}`,
      '@tokens': `uses ${size} ${isHigher ? 'more' : 'fewer'} tokens`,
    }[metric]
  const judged = isLowerBetter ? ` (${isHigher ? 'worse' : 'better'})` : ''
  return `scores ${size} ${isHigher ? 'higher' : 'lower'}${judged}`
}

/** Four decimals near 0.05, where three would hide which side p is on. */
export const formatP = (p: number): string =>
  p < 0.001 ? '< 0.001' : p.toFixed(Math.abs(p - significanceLevel) < 0.0005 ? 4 : 3)

export const pText = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${formatP(p)}`)

export const countOf = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`

/** Rounds an estimate to two digits: `about 450 scenarios`. */
export const aboutScenarios = (count: number): string => {
  if (count > 100_000) return 'more than 100,000 scenarios'
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(count)) - 1)
  return `about ${countOf(Math.round(count / unit) * unit, 'scenario')}`
}

export const comparedScenarios = (compared: number, runs: number): string =>
  runs === 1 ? countOf(compared, 'scenario') : `${countOf(compared, 'scenario')} across ${runs} runs`

/** Names of the built-in metrics on screen; a reward key is its own name. */
export const metricLabel = (metric: string): string => (isBuiltIn(metric) ? builtInLabels[metric] : truncate(metric))

const builtInLabels = { '@cost_usd': 'cost in USD', '@duration_ms': 'duration in ms', '@tokens': 'tokens' }

export const failureRule = ({
  rule,
  metric,
  lower_is_better,
}: Pick<CompareReport, 'rule' | 'metric' | 'lower_is_better'>): string => {
  if (isBuiltIn(metric) && rule === 'zero')
    return 'Every attempt that reports a value counts, including failures and timeouts; attempts without a value are excluded.'
  if (rule === 'zero') return 'Failures, timeouts and completed attempts without a score count as 0.'
  const why = lower_is_better && !isBuiltIn(metric) ? ', as a 0 would be a good score' : ''
  return `Failures and timeouts, including scored ones, are excluded from the means${why}.`
}

export const changeRules: Record<Exclude<keyof ComparedPair, keyof PairFigures>, string> = {
  new_failures: 'passes in the baseline, fails in this run',
  worse: 'scores worse than the baseline, including new failures',
  new_passes: 'fails in the baseline, passes in this run',
  better: 'scores better than the baseline, including new passes',
  still_failing: 'fails in both, whatever the scores',
  slower: 'takes at least 50% and one second longer',
}

export const passRule = ({ is_unit_range, threshold, lower_is_better }: ScoreScale): string => {
  if (threshold === null)
    return `${lower_is_better ? 'Lower is better' : 'Scores are outside 0 to 1'}, so passes are only counted with a pass threshold.`
  const score = lower_is_better
    ? `at most ${threshold}`
    : is_unit_range && threshold === 1
      ? '1'
      : `at least ${threshold}`
  return `A scenario passes if the mean of its attempts is ${score}; in pass@k an attempt passes with a score of ${score}.`
}

export type TrendStep = 'first' | 'regression' | 'possible' | 'better' | 'slightly_better' | 'worse' | 'same' | 'none'

/** Change since the previous job; `none` if it can't be computed. */
export const stepOf = ({ change, regression, figures }: TrendPoint): TrendStep => {
  if (regression) return regression === 'significant' ? 'regression' : 'possible'
  if (!change) return figures.mean === null ? 'none' : 'first'
  if (change.difference === null) return 'none'
  if (change.difference === 0) return 'same'
  if ((gainOf(change) ?? 0) < 0) return 'worse'
  return change.significant ? 'better' : 'slightly_better'
}
