import type {
  AgentFigures,
  ComparedPair,
  ExcludedScenario,
  FailureRule,
  JudgedJob,
  ScenarioChange,
  ScoreScale,
} from './figures.ts'
import { appliedRule, commonOf, judgingPairs, type Side } from './judgment.ts'
import { byName, passes } from './tallies.ts'

export interface Comparison extends ScoreScale {
  rule: FailureRule
  agents: AgentFigures[]
  pairs: ComparedPair[]
  excluded_scenarios: ExcludedScenario[]
}

/** Compares agents with the run that `baselineOf` returns for each. Yields every few milliseconds. */
export function* comparing(
  job: JudgedJob,
  rule: FailureRule,
  baselineOf: (agent: AgentFigures) => string | null,
): Generator<void, Comparison> {
  const paired = (sides: readonly Side[]) =>
    sides.flatMap((side) => {
      const id = baselineOf(side.figures)
      const baseline = sides.find(({ agent }) => agent.benchmark_run_id === id)
      return baseline === undefined || baseline === side ? [] : [[side, baseline] as const]
    })
  const { sides, scale, agents, pairs, excluded_scenarios } = yield* judgingPairs(job, rule, paired)
  const compared: ComparedPair[] = []
  for (const [i, [a, b]] of paired(sides).entries()) {
    const pair = pairs[i]
    if (pair) compared.push({ ...pair, ...changesOf(a, b, scale) })
    yield
  }
  return { rule: appliedRule(job, rule), ...scale, agents, pairs: compared, excluded_scenarios }
}

type Changes = Pick<ComparedPair, 'new_passes' | 'new_failures' | 'worse' | 'better' | 'still_failing' | 'slower'>

const changesOf = (after: Side, before: Side, scale: ScoreScale): Changes => {
  const all = commonOf(after, before).map(
    ({ a, b }): ScenarioChange => ({
      scenario_id: a.scenario_id,
      scenario_name: a.scenario_name,
      before: b.mean,
      after: a.mean,
      duration_before_ms: b.duration_ms,
      duration_after_ms: a.duration_ms,
    }),
  )
  all.sort(byName)
  const byPass = (isBefore: boolean, isAfter: boolean) =>
    scale.threshold === null
      ? null
      : all.filter((each) => passes(each.before, scale) === isBefore && passes(each.after, scale) === isAfter)
  const [lower, higher] = [
    all.filter((each) => isLess(each.after, each.before)),
    all.filter((each) => isLess(each.before, each.after)),
  ]
  return {
    new_passes: byPass(false, true),
    new_failures: byPass(true, false),
    worse: scale.lower_is_better ? higher : lower,
    better: scale.lower_is_better ? lower : higher,
    still_failing: byPass(false, false),
    slower: all.filter(isSlower),
  }
}

/** Ignores rounding in the last digits. */
const isLess = (a: number, b: number): boolean => b - a > 1e-12 * Math.max(Math.abs(a), Math.abs(b))

/** Short scenarios vary by 50% at random, hence the extra second. */
const isSlower = ({ duration_before_ms: before, duration_after_ms: after }: ScenarioChange): boolean =>
  before !== null && after !== null && after > 1.5 * before && after - before >= 1000
