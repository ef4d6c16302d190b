import { holm, mcnemar, pairedDifference, scenariosNeeded, signFlipP } from './differences.ts'
import {
  type AgentFigures,
  type AgentIdentity,
  type AttemptOutcome,
  type Direction,
  type ExcludedScenario,
  type FailureRule,
  isControl,
  type JudgedAgent,
  type JudgedJob,
  type Judgment,
  type MetricFigures,
  minScenarios,
  type PairFigures,
  type Reasons,
  type ScoreScale,
  significanceLevel,
} from './figures.ts'
import {
  type Interval,
  meanOf,
  passAtK,
  passHatK,
  quantile,
  reportedKs,
  standardError,
  tInterval,
  wilson,
  zFrom,
  zInterval,
} from './means.ts'
import { builtInMetrics, type CountingRule, countingRule, defaultDirection, metricValue } from './metrics.ts'
import { byName, durationsOf, passes, scaleOf, type Tallies, type Tally, talliesOf, usageOf } from './tallies.ts'

/** Unspecified: power at which the needed scenarios are estimated. */
const plannedPower = 0.95

/** Yields after each agent and pair, every few milliseconds. */
export function* judging(job: JudgedJob, rule: FailureRule): Generator<void, Judgment> {
  const { scale, agents, pairs, excluded_scenarios } = yield* judgingPairs(job, rule, everyPair)
  return {
    rule: appliedRule(job, rule),
    complete: job.complete,
    ...scale,
    agents: ranked(agents, pairs, scale),
    pairs,
    excluded_scenarios,
  }
}

/** The rule of the report: where lower is better, failures are always excluded. */
export const appliedRule = (job: JudgedJob, rule: FailureRule): FailureRule =>
  judgedRule(job, rule) === 'leave_out' ? 'leave_out' : rule

/** Jobs with different metrics are all judged by reward keys. */
const judgedMetric = ({ agents }: JudgedJob): string | null | undefined => agents[0]?.metric

const directionOf = (job: JudgedJob): Direction => job.direction ?? defaultDirection(judgedMetric(job))

export const judgedRule = (job: JudgedJob, rule: FailureRule): CountingRule =>
  countingRule(rule, judgedMetric(job), directionOf(job))

export interface Side {
  agent: JudgedAgent
  figures: AgentFigures
  tallies: Tallies
}

type Paired = (sides: readonly Side[]) => readonly (readonly [Side, Side])[]

const everyPair: Paired = (sides) => sides.flatMap((a, i) => sides.slice(i + 1).map((b) => [a, b] as const))

export function* judgingPairs(
  job: JudgedJob,
  rule: FailureRule,
  paired: Paired,
): Generator<
  void,
  {
    sides: Side[]
    scale: ScoreScale
    agents: AgentFigures[]
    pairs: PairFigures[]
    excluded_scenarios: ExcludedScenario[]
  }
> {
  const direction = directionOf(job)
  const scale = scaleOf(job.agents, { metric: judgedMetric(job), direction, threshold: job.threshold })
  const metricScales = new Map(metricNames(job.agents).map((metric) => [metric, scaleBy(job.agents, metric)]))
  const rewardsOfJob = Map.groupBy(job.agents, ({ job_id }) => job_id)
  const sides: Side[] = []
  for (const agent of job.agents) {
    const tallies = talliesOf(agent.outcomes, judgedRule(job, rule))
    const figures = figuresOf(agent, tallies, scale)
    const metrics: Record<string, MetricFigures> = {}
    for (const metric of metricNames([agent], rewardsOfJob.get(agent.job_id))) {
      const isJudged = metric === agent.metric
      const own = isJudged ? scale : (metricScales.get(metric) as ScoreScale)
      metrics[metric] = metricFiguresOf(
        isJudged
          ? tallies
          : talliesOf(judgedOutcomes(agent, metric), countingRule(rule, metric, defaultDirection(metric))),
        own,
      )
      yield
    }
    sides.push({ agent, tallies, figures: { ...figures, metrics } })
  }
  const pairs: PairFigures[] = []
  for (const [a, b] of paired(sides)) {
    pairs.push(pairOf(a, b, scale))
    yield
  }
  yield
  return {
    sides,
    scale,
    agents: sides.map(({ figures }) => figures),
    pairs: withSignificance(pairs),
    excluded_scenarios: excludedOf(sides),
  }
}

export const identityOf = ({
  agent_name,
  model_name,
  benchmark_run_id,
  job_id,
  differs,
}: AgentIdentity): AgentIdentity => ({
  agent_name,
  model_name,
  benchmark_run_id,
  job_id,
  ...(differs !== undefined && { differs }),
})

const rewardKeys = (agents: readonly JudgedAgent[]): string[] => [
  ...new Set(agents.flatMap(({ outcomes }) => outcomes.flatMap(({ rewards }) => Object.keys(rewards ?? {})))),
]

/** Reward keys of the agent's job, even if none of its attempts has them, and the built-in metrics that it reports. */
const metricNames = (agents: readonly JudgedAgent[], ofJob = agents): string[] => [
  ...rewardKeys(ofJob),
  ...builtInMetrics.filter((metric) =>
    agents.some(({ outcomes }) => outcomes.some((each) => metricValue(each, metric) !== null)),
  ),
]

const judgedOutcomes = ({ metric: judged, outcomes }: JudgedAgent, metric: string): readonly AttemptOutcome[] =>
  metric === judged ? outcomes : outcomes.map((each) => ({ ...each, score: metricValue(each, metric) }))

const scaleBy = (agents: readonly JudgedAgent[], metric: string): ScoreScale =>
  scaleOf(
    agents.map((agent) => ({ outcomes: judgedOutcomes(agent, metric) })),
    { metric, direction: defaultDirection(metric) },
  )

const metricFiguresOf = (tallies: Tallies, scale: ScoreScale): MetricFigures => {
  const of = counted(tallies).map(([, tally]) => tally)
  const means = of.map(({ mean }) => mean)
  const [mean, se] = [meanOf(means), standardError(means)]
  const { ci_low, ci_high } = intervalOf(of, mean, se, scale, {})
  return {
    mean,
    se,
    ci_low,
    ci_high,
    n_scenarios: of.length,
    n_attempts: attemptsOf(of),
    lower_is_better: scale.lower_is_better,
  }
}

const attemptsOf = (tallies: readonly Tally[]): number => tallies.reduce((sum, { scores }) => sum + scores.length, 0)

type CountedTally = Tally & { mean: number }
const isCounted = (tally: Tally | undefined): tally is CountedTally => tally !== undefined && tally.mean !== null

const counted = (tallies: Tallies): [string, CountedTally][] =>
  [...tallies].filter((entry): entry is [string, CountedTally] => isCounted(entry[1]))

export const figuresOf = (agent: JudgedAgent, tallies: Tallies, scale: ScoreScale): AgentFigures => {
  const reasons: Record<string, string> = {}
  const of = counted(tallies).map(([, tally]) => tally)
  const means = of.map(({ mean }) => mean)
  const mean = meanOf(means)
  const se = standardError(means)
  const nothing = 'no scenario has a counted attempt'
  if (mean === null) reasons.mean = nothing
  if (se === null) reasons.se = mean === null ? nothing : 'a single scenario has no spread'
  const inStates = (...states: string[]) => agent.outcomes.filter(({ state }) => states.includes(state)).length
  const durations = durationsOf(agent.outcomes)
  if (durations.length === 0) reasons.duration_median_ms = reasons.duration_p95_ms = 'no attempt reports a duration'
  const passed = passesOf(of, scale, reasons)
  const usage = usageOf(agent.outcomes, reasons)
  return {
    ...identityOf(agent),
    n_scenarios: of.length,
    n_attempts: attemptsOf(of),
    mean,
    se,
    ...intervalOf(of, mean, se, scale, reasons),
    ...passed,
    cost_per_solved: costPerSolved(of, usage.cost_usd, passed.n_passed, reasons),
    n_planned: plannedOf(agent, reasons),
    n_completed: inStates('COMPLETED'),
    n_failed: inStates('FAILED'),
    n_timeout: inStates('TIMEOUT'),
    n_cancelled: inStates('CANCELED'),
    n_other: agent.outcomes.length - inStates('COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELED'),
    duration_median_ms: quantile(durations, 0.5),
    duration_p95_ms: quantile(durations, 0.95),
    ...usage,
    rank_low: null,
    rank_high: null,
    metrics: {},
    reasons,
  }
}

const plannedOf = ({ n_planned }: JudgedAgent, reasons: Record<string, string>): number | null => {
  if (n_planned == null || !Number.isFinite(n_planned)) reasons.n_planned = 'not reported'
  return n_planned ?? null
}

type IntervalFigures = Pick<AgentFigures, 'ci_low' | 'ci_high' | 'method'>

const intervalOf = (
  tallies: readonly CountedTally[],
  mean: number | null,
  se: number | null,
  { is_unit_range }: ScoreScale,
  reasons: Record<string, string>,
): IntervalFigures => {
  const n = tallies.length
  const none = (reason: string): IntervalFigures => {
    reasons.ci_low = reasons.ci_high = reason
    return { ci_low: null, ci_high: null, method: null }
  }
  if (mean === null || se === null) return none(reasons.se ?? '')
  // Unspecified: Wilson also for identical repeated attempts, where Student's interval would be a point.
  const isSame = se <= 1e-12 * Math.abs(mean)
  const isBinary =
    is_unit_range && tallies.every(({ mean: m, scores }) => (m === 0 || m === 1) && (scores.length === 1 || isSame))
  if (!isBinary && isSame) return none('all scenarios have the same score')
  const method = isBinary ? 'wilson' : n >= zFrom ? 'z' : 't'
  const interval = isBinary
    ? wilson(tallies.filter((tally) => tally.mean === 1).length, n)
    : method === 'z'
      ? zInterval(mean, se)
      : tInterval(mean, se, n)
  if (!interval) return none('no scenario has a counted attempt')
  return { ...within(interval, is_unit_range ? 0 : null), method }
}

const within = ({ low, high }: Interval, lowest: 0 | -1 | null): Pick<IntervalFigures, 'ci_low' | 'ci_high'> =>
  lowest === null ? { ci_low: low, ci_high: high } : { ci_low: Math.max(lowest, low), ci_high: Math.min(1, high) }

const withoutThreshold = ({ lower_is_better }: ScoreScale): string =>
  `${lower_is_better ? 'lower is better' : 'scores are outside 0 to 1'}; set a pass threshold to count passes`

/** k is limited by the scenario with the fewest attempts. */
const passesOf = (
  tallies: readonly Tally[],
  scale: ScoreScale,
  reasons: Record<string, string>,
): Pick<AgentFigures, 'n_passed' | 'pass_at_k' | 'pass_hat_k'> => {
  if (scale.threshold === null) {
    reasons.n_passed = reasons.pass_at_k = reasons.pass_hat_k = withoutThreshold(scale)
    return { n_passed: null, pass_at_k: null, pass_hat_k: null }
  }
  if (tallies.length === 0) {
    reasons.pass_at_k = reasons.pass_hat_k = 'no scenario has a counted attempt'
    return { n_passed: 0, pass_at_k: null, pass_hat_k: null }
  }
  const counts = tallies.map(({ scores }) => ({
    n: scores.length,
    c: scores.filter((score) => passes(score, scale)).length,
  }))
  const ks = reportedKs(counts.reduce((fewest, { n }) => Math.min(fewest, n), Number.POSITIVE_INFINITY))
  const over = (chance: typeof passAtK) =>
    Object.fromEntries(ks.map((k) => [`${k}`, meanOf(counts.map(({ n, c }) => chance(n, c, k) as number)) as number]))
  return {
    n_passed: tallies.filter(({ mean }) => passes(mean, scale)).length,
    pass_at_k: over(passAtK),
    pass_hat_k: over(passHatK),
  }
}

const costPerSolved = (
  tallies: readonly Tally[],
  cost: number | null,
  passed: number | null,
  reasons: Record<string, string>,
): number | null => {
  const none = (reason: string) => {
    reasons.cost_per_solved = reason
    return null
  }
  if (cost === null) return none(reasons.cost_usd ?? '')
  if (passed === null) return none(reasons.n_passed ?? '')
  if (passed === 0) return none('no scenario passes')
  const unknown = tallies.reduce((sum, { n_without_cost }) => sum + n_without_cost, 0)
  if (unknown > 0)
    return none(`${unknown} counted ${unknown === 1 ? "attempt doesn't" : "attempts don't"} report the cost`)
  return cost / passed
}

/** Scenarios that both scored; none if the agents are scored by different metrics. */
export const commonOf = (a: Side, b: Side): { a: CountedTally; b: CountedTally }[] =>
  hasOtherMetric(a, b)
    ? []
    : counted(a.tallies).flatMap(([key, ofA]) => {
        const ofB = b.tallies.get(key)
        return isCounted(ofB) ? [{ a: ofA, b: ofB }] : []
      })

const hasOtherMetric = ({ agent: a }: Side, { agent: b }: Side): boolean =>
  a.metric != null && b.metric != null && a.metric !== b.metric

export const pairOf = (a: Side, b: Side, scale: ScoreScale): PairFigures => {
  const { is_unit_range, threshold } = scale
  const common = commonOf(a, b).map((pair) => ({ a: pair.a.mean, b: pair.b.mean }))
  const n = common.length
  const noCommonReason = hasOtherMetric(a, b) ? 'they use different metrics' : 'no scenario has a score for both'
  const differences = common.map((pair) => pair.a - pair.b)
  const largest = common.reduce((most, pair) => Math.max(most, Math.abs(pair.a), Math.abs(pair.b)), 0)
  const { mean, sd, se, interval } = pairedDifference(differences, largest)
  const flips = signFlipP(differences, largest)
  const count = (passesA: boolean, passesB: boolean) =>
    common.filter((pair) => passes(pair.a, scale) === passesA && passes(pair.b, scale) === passesB).length
  const [onlyA, onlyB] = [count(true, false), count(false, true)]
  const agreement = n === 0 || threshold === null ? null : mcnemar(onlyA, onlyB)
  const counted = (scenarios: number) => (threshold === null ? null : scenarios)
  const needed = mean === null || sd === null ? null : scenariosNeeded(sd * sd, mean, plannedPower)
  return {
    a: identityOf(a.agent),
    b: identityOf(b.agent),
    n,
    mean_a: meanOf(common.map((pair) => pair.a)),
    mean_b: meanOf(common.map((pair) => pair.b)),
    difference: mean,
    lower_is_better: scale.lower_is_better,
    se,
    ...(interval ? within(interval, is_unit_range ? -1 : null) : { ci_low: null, ci_high: null }),
    p_value: flips?.p ?? null,
    p_adjusted: null,
    method: flips && `sign_flips_${flips.method}`,
    only_a_passes: counted(onlyA),
    only_b_passes: counted(onlyB),
    both_pass: counted(count(true, true)),
    neither_passes: counted(count(false, false)),
    mcnemar_p: agreement?.exact ?? null,
    mcnemar_mid_p: agreement?.mid ?? null,
    significant: false,
    min_scenarios: minScenarios(),
    // Zero variance needs no more scenarios.
    scenarios_needed: needed === null ? null : Math.max(1, Math.ceil(needed)),
    reasons: {
      ...(threshold === null && passReasons(withoutThreshold(scale))),
      ...pairReasons(n, mean, interval, noCommonReason),
    },
  }
}

const reasonFor = (reason: string, ...figures: (keyof PairFigures)[]): Reasons =>
  Object.fromEntries(figures.map((figure) => [figure, reason]))

const passReasons = (reason: string): Reasons =>
  reasonFor(
    reason,
    ...(['only_a_passes', 'only_b_passes', 'both_pass', 'neither_passes', 'mcnemar_p', 'mcnemar_mid_p'] as const),
  )

const pairReasons = (
  n: number,
  difference: number | null,
  interval: Interval | null,
  noCommonReason: string,
): Reasons => {
  if (n === 0)
    return reasonFor(
      noCommonReason,
      ...(['mean_a', 'mean_b', 'difference', 'se', 'ci_low', 'ci_high', 'p_value', 'p_adjusted'] as const),
      ...(['method', 'mcnemar_p', 'mcnemar_mid_p', 'scenarios_needed'] as const),
    )
  if (n === 1)
    return reasonFor(
      'a single common scenario has no spread',
      ...(['se', 'ci_low', 'ci_high', 'scenarios_needed'] as const),
    )
  return {
    ...(interval === null && reasonFor('all differences are equal', 'ci_low', 'ci_high')),
    ...(difference === 0 && reasonFor('there is no difference', 'scenarios_needed')),
  }
}

const hasControl = ({ a, b }: PairFigures): boolean => isControl(a.agent_name) || isControl(b.agent_name)

/** Pairs with a control are not adjusted and don't weaken other pairs. */
export const withSignificance = (pairs: readonly PairFigures[]): PairFigures[] => {
  const tested = pairs.filter((pair) => pair.p_value !== null && !hasControl(pair))
  const adjusted = new Map(holm(tested.map(({ p_value }) => p_value as number)).map((p, i) => [tested[i], p]))
  return pairs.map((pair): PairFigures => {
    const p = adjusted.get(pair) ?? null
    const decisive = hasControl(pair) ? pair.p_value : p
    const isSignificant = decisive !== null && decisive < significanceLevel
    const { n, scenarios_needed: needed } = pair
    const compared = hasControl(pair) ? 1 : tested.length
    const fewest = minScenarios(compared)
    const reasons = {
      ...pair.reasons,
      ...(hasControl(pair) &&
        pair.p_value !== null &&
        reasonFor('pairs with a control are not adjusted', 'p_adjusted')),
    }
    const hasEnoughScenarios = !isSignificant && needed !== null && needed <= n
    const judged = { ...pair, p_adjusted: p, significant: isSignificant, min_scenarios: fewest, reasons }
    if (!hasEnoughScenarios) return judged
    const least = Math.min(1, compared * 2 ** (1 - n))
    const reason =
      n < fewest
        ? `p cannot fall below ${least} with ${n} scenarios${compared > 1 ? ` and ${compared} pairs` : ''}; at least ${fewest} are needed`
        : `${needed} scenarios usually suffice for a difference of this size, but these ${n} did not`
    return { ...judged, scenarios_needed: null, reasons: { ...reasons, scenarios_needed: reason } }
  })
}

/** Ranks are ranges: only significant differences separate agents. */
const ranked = (
  agents: readonly AgentFigures[],
  pairs: readonly PairFigures[],
  { lower_is_better }: ScoreScale,
): AgentFigures[] => {
  const unrankedReason = ({ agent_name, mean }: AgentFigures) =>
    isControl(agent_name) ? 'control, not ranked' : mean === null ? 'no mean' : null
  const rankedCount = agents.filter((agent) => unrankedReason(agent) === null).length
  const decided = pairs.filter((pair) => pair.significant && !hasControl(pair))
  const isAhead = ({ a, difference }: PairFigures, runId: string) =>
    ((difference ?? 0) > 0 !== lower_is_better) === (a.benchmark_run_id === runId)
  return agents.map((agent) => {
    const reason = unrankedReason(agent)
    if (reason !== null) return { ...agent, reasons: { ...agent.reasons, rank_low: reason, rank_high: reason } }
    const id = agent.benchmark_run_id
    const own = decided.filter(({ a, b }) => [a, b].some((each) => each.benchmark_run_id === id))
    const behind = own.filter((pair) => isAhead(pair, id)).length
    return { ...agent, rank_low: 1 + own.length - behind, rank_high: rankedCount - behind }
  })
}

/** A scenario that only a control misses is not excluded. */
const excludedOf = (all: readonly Side[]): ExcludedScenario[] => {
  const judged = all.filter(({ agent }) => !isControl(agent.agent_name))
  return excludedAmong(judged.length > 0 ? judged : all)
}

const excludedAmong = (sides: readonly Side[]): ExcludedScenario[] => {
  const all = new Map<string, Tally>()
  for (const { tallies } of sides) for (const [key, tally] of tallies) if (!all.has(key)) all.set(key, tally)
  return [...all]
    .sort(([, a], [, b]) => byName(a, b))
    .flatMap(([key, { scenario_id, scenario_name }]) => {
      const missing_from = sides.flatMap(({ agent, tallies }) => {
        const tally = tallies.get(key)
        if (isCounted(tally)) return []
        return [{ ...identityOf(agent), why: tally?.why_missing ?? ('no_outcome' as const) }]
      })
      return missing_from.length === 0 ? [] : [{ scenario_id, scenario_name, missing_from }]
    })
}
