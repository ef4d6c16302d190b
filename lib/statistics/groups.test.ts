import { expect, it } from 'vitest'
import type { JudgedAgent } from './figures.ts'
import { frontierOf } from './frontier.ts'
import { judgingGroups } from './groups.ts'
import { finish, judge } from './testing.ts'

const agent = (agent_name: string, scores: readonly (number | 'FAILED')[]): JudgedAgent => ({
  agent_name,
  model_name: null,
  benchmark_run_id: `bmr_${agent_name}`,
  job_id: 'bmj_1',
  outcomes: scores.map((score, i) => ({
    scenario_id: `s${i}`,
    scenario_name: `scenario ${i}`,
    ...(score === 'FAILED' ? { state: score } : { state: 'COMPLETED', score }),
  })),
})

const groupsOf = (agents: JudgedAgent[], values: Record<string, string>, rule: 'zero' | 'leave_out' = 'zero') => {
  const judgment = judge({ agents, complete: true }, rule)
  return {
    judgment,
    groups: finish(judgingGroups({ agents, complete: true }, rule, judgment, new Map(Object.entries(values)))),
  }
}

const six = (value: number | null | undefined) => (value == null ? value : Math.round(value * 1e6) / 1e6)

// Computed by hand from Student's quantiles 2.776445 (4 degrees of freedom) and 3.182446 (3).
it('judges each group like a report of its own', () => {
  const { groups, judgment } = groupsOf(
    [agent('A', [1, 0.5, 0, 1, 0.75, 0.25, 1, 0, 0.5, 1]), agent('B', [1, 0, 0, 0.5, 0.75, 0.5, 0.5, 0, 0.25, 1])],
    { s0: 'easy', s1: 'easy', s2: 'easy', s3: 'easy', s4: 'easy', s5: 'hard', s6: 'hard', s7: 'hard', s8: 'hard' },
  )
  expect(groups.map(({ value }) => value)).toEqual(['easy', 'hard', null])
  const [easy, hard, unset] = groups
  const [a] = easy?.agents ?? []
  expect([a?.n_scenarios, six(a?.mean), six(a?.se), six(a?.ci_low), a?.ci_high]).toEqual([
    5, 0.65, 0.187083, 0.130575, 1,
  ])
  expect(easy?.agents[1]?.mean).toBe(0.45)
  const pair = (group = easy) => group?.pairs[0]
  expect([pair()?.n, six(pair()?.difference), six(pair()?.se), pair()?.p_value]).toEqual([5, 0.2, 0.122474, 0.5])
  expect([six(pair()?.ci_low), six(pair()?.ci_high)]).toEqual([-0.140044, 0.540044])
  expect([pair(hard)?.n, six(pair(hard)?.difference), pair(hard)?.p_value]).toEqual([4, 0.125, 0.75])
  expect([six(pair(hard)?.ci_low), six(pair(hard)?.ci_high)]).toEqual([-0.388565, 0.638565])
  expect(unset?.agents[0]).toMatchObject({ mean: 1, ci_low: null, reasons: { se: 'a single scenario has no spread' } })
  expect(pair(unset)).toMatchObject({ ci_low: null, reasons: { ci_low: 'a single common scenario has no spread' } })
  for (const [at, whole] of judgment.agents.entries())
    expect(groups.reduce((n, { agents }) => n + (agents[at]?.n_scenarios ?? 0), 0)).toBe(whole.n_scenarios)
  expect(groups.reduce((n, { pairs }) => n + (pairs[0]?.n ?? 0), 0)).toBe(judgment.pairs[0]?.n)
})

it('adjusts p over the pairs of all groups', () => {
  const [ones, zeros] = [new Array<number>(14).fill(1), new Array<number>(14).fill(0)]
  const values = Object.fromEntries(ones.map((_, i) => [`s${i}`, i < 8 ? 'easy' : 'hard']))
  const { groups } = groupsOf([agent('A', ones), agent('B', zeros), agent('nop', zeros)], values)
  const ps = groups.flatMap(({ pairs }) => pairs.map(({ p_value, p_adjusted }) => [p_value, p_adjusted]))
  expect(ps).toEqual([
    [2 / 256, 4 / 256],
    [2 / 256, null],
    [1, null],
    [2 / 64, 2 / 64],
    [2 / 64, null],
    [1, null],
  ])
})

it('keeps the scale of the whole report', () => {
  const { groups } = groupsOf([agent('A', [1, 0, 1, 7]), agent('B', [1, 1, 0, 3])], { s0: 'x', s1: 'x', s2: 'x' })
  // Alone, the group would have Wilson's interval and passes.
  expect(groups[0]?.agents[0]?.method).toBe('t')
  expect(groups[0]?.pairs[0]?.only_a_passes).toBeNull()
})

it('groups by failures left out', () => {
  const { groups } = groupsOf([agent('A', [1, 'FAILED']), agent('B', [1, 0])], { s0: 'x', s1: 'y' }, 'leave_out')
  expect(groups[1]?.agents.map(({ mean, reasons }) => [mean, reasons.mean])).toEqual([
    [null, 'no scenario has a counted attempt'],
    [0, undefined],
  ])
  expect(groups[1]?.pairs[0]?.reasons.difference).toBe('no scenario has a score for both')
})
it('finds the frontier of score against cost', () => {
  const points = [
    { cost: 3, score: 0.9 },
    { cost: 1, score: 0.5 },
    { cost: 3, score: 0.8 },
    { cost: 2, score: 0.5 },
    { cost: 0.1 + 0.2, score: 0.1 },
    { cost: 0.3, score: 0.1 },
    { cost: 4, score: 0.1 },
  ]
  const [best, cheap, , , one, other] = points
  const { frontier, dominators } = frontierOf(points)
  expect(frontier).toEqual([other, one, cheap, best])
  expect(dominators).toEqual([[], [], [best], [cheap], [], [], [other, one, cheap, best]])
  expect(frontierOf(points, true).frontier).toEqual([other, one])
})
