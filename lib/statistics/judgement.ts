import { passAtK, passHatK, toldK } from './attempts.ts'
import { mcnemar, pairedDifference, scenariosToSettle, signFlipP } from './differences.ts'
import {
  type AgentFigures,
  type AgentIdentity,
  type ExcludedScenario,
  type FailureRule,
  fewestToSettle,
  isControl,
  type JudgedAgent,
  type JudgedJob,
  type Judgement,
  type PairFigures,
  type Reasons,
  settledBelow,
} from './figures.ts'
import { holm } from './holm.ts'
import { meanOf, quantile, standardError, tInterval, wilson, zFrom, zInterval } from './means.ts'
import { byName, durationsOf, scenarioKey, type Tallies, type Tally, talliesOf } from './tallies.ts'
import { usageOf } from './usage.ts'

/** Unspecified: how sure a job of that many scenarios is to settle a difference that stays as it is. */
const settlingPower = 0.95

export const judge = (job: JudgedJob, rule: FailureRule): Judgement => {
  const steps = judging(job, rule)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same in steps of a few milliseconds, one for each agent and each pair. */
export function* judging(job: JudgedJob, rule: FailureRule): Generator<void, Judgement> {
  const { agents, pairs, excluded_scenarios } = yield* judgingPairs(job, rule, everyPair)
  return { rule, complete: job.complete, agents: ranked(agents, pairs), pairs, excluded_scenarios }
}

/** An agent with what it has made of each scenario. */
export interface Side {
  agent: JudgedAgent
  figures: AgentFigures
  tallies: Tallies
}

type Paired = (sides: readonly Side[]) => readonly (readonly [Side, Side])[]

const everyPair: Paired = (sides) => sides.flatMap((a, i) => sides.slice(i + 1).map((b) => [a, b] as const))

/** The agents, the pairs that `paired` chooses of them, and what they do not have in common. */
export function* judgingPairs(
  job: JudgedJob,
  rule: FailureRule,
  paired: Paired,
): Generator<
  void,
  { sides: Side[]; agents: AgentFigures[]; pairs: PairFigures[]; excluded_scenarios: ExcludedScenario[] }
> {
  const keyOf = scenarioKey(job)
  const sides: Side[] = []
  for (const agent of job.agents) {
    const tallies = talliesOf(agent.outcomes, rule, keyOf)
    sides.push({ agent, tallies, figures: figuresOf(agent, tallies) })
    yield
  }
  const pairs: PairFigures[] = []
  for (const [a, b] of paired(sides)) {
    pairs.push(pairOf(a, b))
    yield
  }
  yield
  return {
    sides,
    agents: sides.map(({ figures }) => figures),
    pairs: settled(pairs),
    excluded_scenarios: excludedOf(sides),
  }
}

const identityOf = ({ agent_name, model_name, benchmark_run_id, job_id }: AgentIdentity): AgentIdentity => ({
  agent_name,
  model_name,
  benchmark_run_id,
  job_id,
})

type CountedTally = Tally & { mean: number }
const isCounted = (tally: Tally | undefined): tally is CountedTally => tally !== undefined && tally.mean !== null

const counted = (tallies: Tallies): [string, CountedTally][] =>
  [...tallies].filter((entry): entry is [string, CountedTally] => isCounted(entry[1]))

const figuresOf = (agent: JudgedAgent, tallies: Tallies): AgentFigures => {
  const reasons: Record<string, string> = {}
  const of = counted(tallies).map(([, tally]) => tally)
  const means = of.map(({ mean }) => mean)
  const mean = meanOf(means)
  const se = standardError(means)
  const nothing = 'no scenario has an attempt that counts'
  if (mean === null) reasons.mean = nothing
  if (se === null) reasons.se = mean === null ? nothing : 'one scenario tells nothing of how scores spread'
  const inStates = (...states: string[]) => agent.outcomes.filter(({ state }) => states.includes(state)).length
  const durations = durationsOf(agent.outcomes)
  if (durations.length === 0) reasons.duration_median_ms = reasons.duration_p95_ms = 'no attempt tells how long it took'
  return {
    ...identityOf(agent),
    n_scenarios: of.length,
    n_attempts: of.reduce((sum, { scores }) => sum + scores.length, 0),
    mean,
    se,
    ...intervalOf(of, mean, se, reasons),
    ...passesOf(of, reasons),
    n_passed: of.filter(passes).length,
    n_completed: inStates('COMPLETED'),
    n_failed: inStates('FAILED'),
    n_timeout: inStates('TIMEOUT'),
    n_cancelled: inStates('CANCELED'),
    n_other: agent.outcomes.length - inStates('COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELED'),
    duration_median_ms: quantile(durations, 0.5),
    duration_p95_ms: quantile(durations, 0.95),
    ...usageOf(agent.outcomes, reasons),
    rank_low: null,
    rank_high: null,
    reasons,
  }
}

const passes = ({ mean }: { mean: number | null }) => mean === 1

type IntervalFigures = Pick<AgentFigures, 'ci_low' | 'ci_high' | 'method'>

const intervalOf = (
  tallies: readonly CountedTally[],
  mean: number | null,
  se: number | null,
  reasons: Record<string, string>,
): IntervalFigures => {
  const n = tallies.length
  if (mean === null || se === null) {
    reasons.ci_low = reasons.ci_high = reasons.se ?? ''
    return { ci_low: null, ci_high: null, method: null }
  }
  // Unspecified: the interval of several attempts each where these spread nowhere, which would be a point.
  const isBinary = tallies.every(({ mean: m, scores }) => (m === 0 || m === 1) && (scores.length === 1 || se === 0))
  const method = isBinary ? 'wilson' : n >= zFrom ? 'z' : 't'
  const interval = isBinary
    ? wilson(tallies.filter(passes).length, n)
    : method === 'z'
      ? zInterval(mean, se)
      : tInterval(mean, se, n)
  if (!interval) return { ci_low: null, ci_high: null, method: null }
  // A service may know scores beyond 0 and 1, which bound nothing then.
  const isBounded = tallies.every((tally) => tally.mean >= 0 && tally.mean <= 1)
  const { low, high } = interval
  return { ci_low: isBounded ? Math.max(0, low) : low, ci_high: isBounded ? Math.min(1, high) : high, method }
}

/** Over the scenarios: k goes up to the fewest attempts any of them has. */
const passesOf = (
  tallies: readonly Tally[],
  reasons: Record<string, string>,
): Pick<AgentFigures, 'pass_at_k' | 'pass_hat_k'> => {
  if (tallies.length === 0) {
    reasons.pass_at_k = reasons.pass_hat_k = 'no scenario has an attempt that counts'
    return { pass_at_k: null, pass_hat_k: null }
  }
  const counts = tallies.map(({ scores }) => ({ n: scores.length, c: scores.filter((score) => score === 1).length }))
  const ks = toldK(counts.reduce((fewest, { n }) => Math.min(fewest, n), Number.POSITIVE_INFINITY))
  const over = (chance: typeof passAtK) =>
    Object.fromEntries(ks.map((k) => [`${k}`, meanOf(counts.map(({ n, c }) => chance(n, c, k) as number)) as number]))
  return { pass_at_k: over(passAtK), pass_hat_k: over(passHatK) }
}

/** The scenarios both have a mean for. */
export const commonOf = (a: Tallies, b: Tallies): { a: CountedTally; b: CountedTally }[] =>
  counted(a).flatMap(([key, ofA]) => {
    const ofB = b.get(key)
    return isCounted(ofB) ? [{ a: ofA, b: ofB }] : []
  })

const pairOf = (a: Side, b: Side): PairFigures => {
  const common = commonOf(a.tallies, b.tallies).map((pair) => ({ a: pair.a.mean, b: pair.b.mean }))
  const n = common.length
  const differences = common.map((pair) => pair.a - pair.b)
  const { mean, sd, se, interval } = pairedDifference(differences)
  const flips = signFlipP(differences)
  const count = (passesA: boolean, passesB: boolean) =>
    common.filter((pair) => (pair.a === 1) === passesA && (pair.b === 1) === passesB).length
  const [onlyA, onlyB] = [count(true, false), count(false, true)]
  const agreement = mcnemar(onlyA, onlyB)
  const needed = mean === null || sd === null ? null : scenariosToSettle(sd * sd, mean, settlingPower)
  return {
    a: identityOf(a.agent),
    b: identityOf(b.agent),
    n,
    mean_a: meanOf(common.map((pair) => pair.a)),
    mean_b: meanOf(common.map((pair) => pair.b)),
    difference: mean,
    se,
    ci_low: interval?.low ?? null,
    ci_high: interval?.high ?? null,
    p_value: flips?.p ?? null,
    p_adjusted: null,
    method: flips && (flips.exact ? 'sign_flips_exact' : 'sign_flips_sampled'),
    permutations: flips?.permutations ?? null,
    seed: flips?.seed ?? null,
    only_a_passes: onlyA,
    only_b_passes: onlyB,
    both_pass: count(true, true),
    neither_passes: count(false, false),
    mcnemar_p: n === 0 ? null : agreement.exact,
    mcnemar_mid_p: n === 0 ? null : agreement.mid,
    settled: false,
    // A spread of zero is settled by what there is.
    scenarios_to_settle: needed === null ? null : Math.max(1, Math.ceil(needed)),
    reasons: pairReasons(n, mean),
  }
}

const pairReasons = (n: number, difference: number | null): Reasons => {
  if (n === 0) {
    const figures = ['mean_a', 'mean_b', 'difference', 'se', 'ci_low', 'ci_high', 'p_value', 'p_adjusted', 'mcnemar_p']
    const all = [...figures, 'mcnemar_mid_p', 'scenarios_to_settle']
    return Object.fromEntries(all.map((figure) => [figure, 'no scenario that both have a score for']))
  }
  const one = 'one common scenario tells nothing of how differences spread'
  if (n === 1) return { se: one, ci_low: one, ci_high: one, scenarios_to_settle: one }
  return difference === 0 ? { scenarios_to_settle: 'there is no difference to settle' } : {}
}

const settled = (pairs: readonly PairFigures[]): PairFigures[] => {
  const tested = pairs.filter(({ p_value }) => p_value !== null)
  const adjusted = new Map(holm(tested.map(({ p_value }) => p_value as number)).map((p, i) => [tested[i], p]))
  return pairs.map((pair) => {
    const p = adjusted.get(pair) ?? null
    const isSettled = p !== null && p < settledBelow
    const { n, scenarios_to_settle: needed, reasons } = pair
    const isOpenStill = !isSettled && needed !== null && needed <= n
    return {
      ...pair,
      p_adjusted: p,
      settled: isSettled,
      ...(isOpenStill && {
        scenarios_to_settle: null,
        reasons: {
          ...reasons,
          scenarios_to_settle:
            n < fewestToSettle
              ? `p cannot be below ${2 ** (1 - n)} over ${n} scenarios; ${fewestToSettle} are needed at least`
              : `a difference like this shows with ${needed} mostly; with these ${n} it did not`,
        },
      }),
    }
  })
}

/** Ranks as ranges: places change hands only where the difference is settled. */
const ranked = (agents: readonly AgentFigures[], pairs: readonly PairFigures[]): AgentFigures[] => {
  const whyNot = ({ agent_name, mean }: AgentFigures) =>
    isControl(agent_name) ? 'reference, not ranked' : mean === null ? 'it has no mean' : null
  const placed = agents.filter((agent) => whyNot(agent) === null).length
  const decided = pairs.filter(
    ({ a, b, settled: isSettled }) => isSettled && ![a, b].some((each) => isControl(each.agent_name)),
  )
  const isAhead = ({ a, difference }: PairFigures, runId: string) =>
    (difference ?? 0) > 0 === (a.benchmark_run_id === runId)
  return agents.map((agent) => {
    const reason = whyNot(agent)
    if (reason !== null) return { ...agent, reasons: { ...agent.reasons, rank_low: reason, rank_high: reason } }
    const id = agent.benchmark_run_id
    const own = decided.filter(({ a, b }) => [a, b].some((each) => each.benchmark_run_id === id))
    const behind = own.filter((pair) => isAhead(pair, id)).length
    return { ...agent, rank_low: 1 + own.length - behind, rank_high: placed - behind }
  })
}

const excludedOf = (sides: readonly Side[]): ExcludedScenario[] => {
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
