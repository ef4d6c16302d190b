import type { FailureRule, GroupFigures, JudgedJob, PairFigures, ScoreScale } from './figures.ts'
import { figuresOf, identityOf, judgedRule, pairOf, type Side, withSignificance } from './judgment.ts'
import { inNameOrder, talliesOf } from './tallies.ts'

/** Value of each scenario id that has one. */
export type GroupValues = ReadonlyMap<string, string>

/**
 * Judges each group of scenarios by itself, on the scale of the whole report and for the same pairs. p is Holm-adjusted over
 * the pairs of all groups. Sorted by value, with the scenarios that have none last.
 */
export function* judgingGroups(
  job: JudgedJob,
  rule: FailureRule,
  { pairs, ...scale }: ScoreScale & { pairs: readonly PairFigures[] },
  values: GroupValues,
): Generator<void, GroupFigures[]> {
  const { agents } = job
  const counting = judgedRule(job, rule)
  const outcomes = agents.flatMap((agent) => agent.outcomes.map((outcome) => ({ agent, outcome })))
  const byValue = [...Map.groupBy(outcomes, ({ outcome }) => values.get(outcome.scenario_id) ?? null)].sort(
    ([a], [b]) => (a === null || b === null ? Number(a === null) - Number(b === null) : inNameOrder(a, b)),
  )
  const groups: GroupFigures[] = []
  for (const [value, members] of byValue) {
    const byAgent = Map.groupBy(members, ({ agent }) => agent)
    const sides = new Map<string, Side>()
    for (const whole of agents) {
      const agent = { ...whole, outcomes: (byAgent.get(whole) ?? []).map(({ outcome }) => outcome) }
      const tallies = talliesOf(agent.outcomes, counting)
      sides.set(agent.benchmark_run_id, { agent, tallies, figures: figuresOf(agent, tallies, scale) })
      yield
    }
    const own: PairFigures[] = []
    for (const { a, b } of pairs) {
      own.push(pairOf(sides.get(a.benchmark_run_id) as Side, sides.get(b.benchmark_run_id) as Side, scale))
      yield
    }
    groups.push({ value, agents: [...sides.values()].map(({ figures }) => inGroup(figures)), pairs: own })
  }
  const judged = withSignificance(groups.flatMap((group) => group.pairs))
  return groups.map((group, at) => ({
    ...group,
    pairs: judged.slice(at * pairs.length, (at + 1) * pairs.length),
  }))
}

const inGroup = ({
  n_scenarios,
  n_attempts,
  mean,
  se,
  ci_low,
  ci_high,
  method,
  reasons,
  ...agent
}: Side['figures']): GroupFigures['agents'][number] => ({
  ...identityOf(agent),
  n_scenarios,
  n_attempts,
  mean,
  se,
  ci_low,
  ci_high,
  method,
  reasons: Object.fromEntries(
    (['mean', 'se', 'ci_low', 'ci_high'] as const).flatMap((figure) => {
      const reason = reasons[figure]
      return reason === undefined ? [] : [[figure, reason]]
    }),
  ),
})
