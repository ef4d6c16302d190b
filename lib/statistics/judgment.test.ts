import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, FailureRule, JudgedAgent, Judgment } from './figures.ts'
import { judging } from './judgment.ts'
import { byName } from './tallies.ts'
import { compare, judge } from './testing.ts'

/** Mulberry32 (Ettinger 2017). */
const seededBits = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

const six = (value: number | null | undefined) => (value == null ? value : Math.round(value * 1e6) / 1e6)

const outcome = (id: string, score: number | string, duration_ms = 1000): AttemptOutcome => ({
  scenario_id: id,
  scenario_name: `name of ${id}`,
  duration_ms,
  ...(typeof score === 'number' ? { state: 'COMPLETED', score } : { state: score, score: null }),
})

const agent = (agent_name: string, outcomes: AttemptOutcome[]): JudgedAgent => ({
  agent_name,
  model_name: null,
  benchmark_run_id: `bmr_${agent_name}`,
  job_id: 'bmj_1',
  outcomes,
})

/** One attempt per scenario; a string is the state of an attempt without a score. */
const single = (name: string, scores: readonly (number | string)[]) =>
  agent(
    name,
    scores.map((score, i) => outcome(`s${i}`, score)),
  )

const judged = (agents: JudgedAgent[], rule: FailureRule = 'zero'): Judgment => judge({ agents, complete: true }, rule)

const a = [1, 0.5, 0, 1, 0.75, 0.25, 1, 0, 0.5, 1]
const b = [1, 0, 0, 0.5, 0.75, 0.5, 0.5, 0, 0.25, 1]

// 0.1 + 0.2 differs from 0.3 in the last digit, which once asked for 10^33 more scenarios.
it('treats a rounding error as no difference', () => {
  const [pair] = judged([single('A', [0.1, 0.2, 0]), single('B', [0, 0, 0.3])]).pairs
  expect([pair?.n, pair?.difference, pair?.p_value, pair?.scenarios_needed]).toEqual([3, 0, 1, null])
  expect(pair?.reasons.scenarios_needed).toBe('there is no difference')
})

it('compares two agents on the same scenarios', () => {
  const { agents, pairs, excluded_scenarios } = judged([single('A', a), single('B', b)])
  expect(agents.map(({ n_scenarios, n_attempts, n_passed }) => [n_scenarios, n_attempts, n_passed])).toEqual([
    [10, 10, 4],
    [10, 10, 2],
  ])
  expect([six(agents[0]?.ci_low), six(agents[0]?.ci_high), agents[0]?.method]).toEqual([0.305533, 0.894467, 't'])
  const [pair] = pairs
  expect([pair?.n, six(pair?.difference), six(pair?.se)]).toEqual([10, 0.15, 0.084984])
  // 2.262157 standard errors, not the narrower normal interval.
  expect([six(pair?.ci_low), six(pair?.ci_high)]).toEqual([-0.042246, 0.342246])
  expect(pair).toMatchObject({ p_value: 0.1875, p_adjusted: 0.1875, significant: false, method: 'sign_flips_exact' })
  expect(pair).toMatchObject({ only_a_passes: 2, only_b_passes: 0, mcnemar_p: 0.5, scenarios_needed: 42 })
  expect(excluded_scenarios).toEqual([])
})

it('ranks by significance, adjusted for the number of pairs', () => {
  const all = Array.from({ length: 12 }, () => 1)
  const none = all.map(() => 0)
  const { agents, pairs } = judged([
    single('none', none),
    single('all', all),
    single('all but one', [0, ...all.slice(1)]),
  ])
  expect(agents.map(({ rank_low, rank_high }) => [rank_low, rank_high])).toEqual([
    [3, 3],
    [1, 2],
    [1, 2],
  ])
  const [worst] = pairs
  expect([worst?.difference, worst?.p_value, worst?.p_adjusted]).toEqual([-1, 2 / 4096, 6 / 4096])
})

describe('intervals', () => {
  it('use Wilson for binary scores with one attempt each', () => {
    const [figures] = judged([single('A', [1, 1, 1, 1, 1, 1, 1, 0, 0, 0])]).agents
    expect([six(figures?.ci_low), six(figures?.ci_high), figures?.method]).toEqual([0.396778, 0.892209, 'wilson'])
    const twice = ['x', 'y', 'z'].flatMap((id, i) => [outcome(id, 1), outcome(id, i === 0 ? 1 : 0)])
    expect(judged([agent('A', twice)]).agents[0]?.method).toBe('t')
  })

  it('are not a point if all attempts pass or all fail', () => {
    const always = (score: number) =>
      [1, 2, 3].flatMap(() => Array.from({ length: 10 }, (_, i) => outcome(`s${i}`, score)))
    const ends = judged([agent('A', always(1)), agent('B', always(0))]).agents
    // Wilson over ten scenarios, not thirty attempts.
    expect(ends.map(({ n_attempts, ci_low, ci_high }) => [n_attempts, six(ci_low), six(ci_high)])).toEqual([
      [30, 0.722467, 1],
      [30, 0, 0.277533],
    ])
  })

  it('use the normal distribution from 30 scenarios on and stay between 0 and 1', () => {
    const half = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? 0.5 : 1))
    expect(judged([single('A', half)]).agents[0]?.method).toBe('z')
    expect(judged([single('A', half.slice(1))]).agents[0]?.method).toBe('t')
    const [high] = judged([single('A', [1, 0.9, 0.5])]).agents
    expect(high?.ci_high).toBe(1)
  })

  it('are not clamped if a score is outside 0 to 1', () => {
    const [found] = judged([single('A', [1, 2, 9])]).agents
    // mean 4, sd sqrt(19), SE sqrt(19 / 3), t of 2 degrees of freedom 4.302653
    expect([found?.mean, six(found?.ci_low), six(found?.ci_high)]).toEqual([4, -6.828105, 14.828105])
  })

  it('are null with a reason for one scenario and for none', () => {
    const [one, none] = judged([single('A', [1]), single('B', ['CANCELED'])]).agents
    expect([one?.mean, one?.se, one?.ci_low, one?.method]).toEqual([1, null, null, null])
    expect(one?.reasons.ci_low).toContain('single scenario')
    expect([none?.mean, none?.n_scenarios, none?.pass_at_k, none?.rank_low]).toEqual([null, 0, null, null])
    const nulls = Object.entries(none ?? {}).filter(
      ([name, value]) => value === null && !['model_name', 'method'].includes(name),
    )
    expect(Object.keys(none?.reasons ?? {}).sort()).toEqual(nulls.map(([name]) => name).sort())
  })
})

describe('failures', () => {
  const scores = [1, 0.5, 'FAILED', 0, 'TIMEOUT']

  it('score 0 or are excluded, and are counted either way', () => {
    const [zero] = judged([single('A', scores)], 'zero').agents
    const [out] = judged([single('A', scores)], 'leave_out').agents
    expect([zero?.mean, zero?.n_scenarios, out?.mean, out?.n_scenarios]).toEqual([0.3, 5, 0.5, 3])
    for (const figures of [zero, out])
      expect([figures?.n_completed, figures?.n_failed, figures?.n_timeout]).toEqual([3, 1, 1])
  })

  it('do not include canceled attempts or unknown states', () => {
    for (const rule of ['zero', 'leave_out'] as const) {
      const [figures] = judged([single('A', [1, 'CANCELED', 'SKIPPED'])], rule).agents
      expect([figures?.mean, figures?.n_scenarios, figures?.n_cancelled, figures?.n_other]).toEqual([1, 1, 1, 1])
    }
  })

  it('list the scenarios they exclude', () => {
    const other = single('B', [1, 1, 1, 1, 1])
    expect(judged([single('A', scores), other], 'zero').pairs[0]?.n).toBe(5)
    const { pairs, excluded_scenarios } = judged([single('A', [...scores.slice(0, 4), 'CANCELED']), other], 'leave_out')
    expect(pairs[0]?.n).toBe(3)
    expect(
      excluded_scenarios.map(({ scenario_id, missing_from }) => [
        scenario_id,
        missing_from.map(({ agent_name, why }) => `${agent_name} ${why}`),
      ]),
    ).toEqual([
      ['s2', ['A failures_left_out']],
      ['s4', ['A cancelled']],
    ])
  })
})

it('lists scenarios by name, whatever order their attempts started in', () => {
  const one = single('A', a)
  const agents = [one, single('B', b.slice(2))].map((side) => ({ ...side, outcomes: side.outcomes.toReversed() }))
  const { pairs, excluded_scenarios } = compare({ agents, complete: true }, () => one.benchmark_run_id)
  expect(pairs[0]?.still_failing?.map((each) => each.scenario_id)).toEqual(['s1', 's2', 's4', 's5'])
  expect(excluded_scenarios.map((each) => each.scenario_id)).toEqual(['s8', 's9'])
})

it('has a fixed order for equal names and for `task-1` and `task-01`', () => {
  const named = ['a task-01', 'b task-01', 'd task-1', 'e task-2', 'c task-10'].map((each) => {
    const [scenario_id = '', scenario_name = ''] = each.split(' ')
    return { scenario_id, scenario_name }
  })
  expect(named.toSorted(byName)).toEqual(named)
  expect(named.toReversed().sort(byName)).toEqual(named)
})

describe('attempts', () => {
  const four = (id: string, c: number) => [0, 1, 2, 3].map((i) => outcome(id, i < c ? 1 : 0))

  it('give pass@k and pass^k', () => {
    const [figures] = judged([agent('A', [...four('x', 0), ...four('y', 1), ...four('z', 4)])]).agents
    expect([1, 2, 4].map((k) => six(figures?.pass_at_k?.[k]))).toEqual([0.416667, 0.5, 0.666667])
    expect(six(figures?.pass_hat_k?.[2])).toBe(0.333333)
    expect([figures?.n_scenarios, figures?.n_attempts, figures?.n_passed]).toEqual([3, 12, 1])
  })
})

it('reports no common scenario instead of a zero difference', () => {
  const [pair] = judged([single('A', [1]), agent('B', [outcome('other', 1)])]).pairs
  expect(pair).toMatchObject({ n: 0, difference: null, p_value: null, p_adjusted: null, significant: false })
  expect(Object.values(pair?.reasons ?? {})).toContain('no scenario has a score for both')
})

it.each([1, 2])('does not depend on the order of agents, scenarios and attempts, seed %i', (seed) => {
  const bits = seededBits(seed)
  const below = (n: number) => bits() % n
  const shuffled = <T>(values: readonly T[]): T[] =>
    values
      .map((value) => ({ value, key: bits() }))
      .sort((x, y) => x.key - y.key)
      .map(({ value }) => value)
  const attempts = 1 + below(4)
  const scenarios = 2 + below(40)
  const fractions = below(2) === 0 ? 1 : 4
  const made = Array.from({ length: 3 }, (_, i) =>
    agent(
      `agent ${i}`,
      Array.from({ length: scenarios * attempts }, (_, j) =>
        outcome(`s${j % scenarios}`, below(fractions + 1) / fractions),
      ),
    ),
  )
  const { agents, pairs } = judged(made)
  for (const { mean, ci_low, ci_high } of agents) {
    expect(ci_low).toBeLessThanOrEqual(mean as number)
    expect(ci_high).toBeGreaterThanOrEqual(mean as number)
  }
  const again = judged(shuffled(made).map((each) => ({ ...each, outcomes: shuffled(each.outcomes) })))
  for (const figures of agents)
    expect(again.agents.find(({ agent_name }) => agent_name === figures.agent_name)).toEqual(figures)
  const figuresOf = ({ n, p_value, p_adjusted, se, significant, mcnemar_p, difference }: Judgment['pairs'][number]) =>
    [n, p_value, p_adjusted, se, significant, mcnemar_p, Math.abs(difference as number)].join()
  expect(again.pairs.map(figuresOf).sort()).toEqual(pairs.map(figuresOf).sort())
})

// With 10,000 sampled sign patterns p can't fall below 0.0001: adjusted for 630 pairs that is 0.06, never significant.
it('finds significant differences among 36 agents', () => {
  const agents = Array.from({ length: 36 }, (_, at) =>
    single(
      `agent ${at}`,
      Array.from({ length: 89 }, (_, i) => Number(i < 2 * at + 10)),
    ),
  )
  const { agents: figures, pairs } = judged(agents)
  expect(pairs).toHaveLength(630)
  const far = pairs.find(({ a: one, b: other }) => one.agent_name === 'agent 0' && other.agent_name === 'agent 35')
  expect([far?.method, far?.p_value, far?.significant]).toEqual(['sign_flips_exact', 2 ** -69, true])
  expect(figures[0]?.rank_high).toBe(36)
  expect(figures[0]?.rank_low).toBeGreaterThan(25)
  expect(figures[35]?.rank_low).toBe(1)
  expect(figures[35]?.rank_high).toBeLessThan(12)
})

describe('control agents', () => {
  const ones = Array(6).fill(1)
  const zeros = Array(6).fill(0)
  const both = [single('a', ones), single('b', zeros)]
  const controls = [single('oracle', ones), single('nop', zeros)]

  // Controls once added pairs to the adjustment, so that a's lead over b lost its significance.
  it('do not change the pairs, ranks and exclusions of other agents', () => {
    const alone = judged(both)
    const { agents, pairs, excluded_scenarios } = judged([
      ...both,
      ...controls.map((each) => agent(each.agent_name, [])),
    ])
    const together = judged([...both, ...controls])
    expect(alone.pairs[0]).toMatchObject({ p_value: 0.03125, p_adjusted: 0.03125, significant: true })
    expect([pairs[0], together.pairs[0]]).toEqual([alone.pairs[0], alone.pairs[0]])
    expect([agents.slice(0, 2), together.agents.slice(0, 2)]).toEqual([alone.agents, alone.agents])
    expect(excluded_scenarios).toEqual([])
  })

  it('are compared without adjustment', () => {
    const { pairs } = judged([...both, ...controls])
    const ofNop = pairs.find(({ a: one, b: other }) => one.agent_name === 'a' && other.agent_name === 'nop')
    expect(ofNop).toMatchObject({ p_value: 0.03125, p_adjusted: null, significant: true })
    expect(ofNop?.reasons.p_adjusted).toBe('pairs with a control are not adjusted')
  })
})

describe('the interval of a difference', () => {
  const intervalOf = (one: number[], other: number[]) => judged([single('A', one), single('B', other)]).pairs[0]

  it.each([
    ['ones and zeros', [1, 1, 1], [0, 0, 0]],
    ['with rounding errors', [0.3, 0.4, 0.8], [0.2, 0.3, 0.7]],
    ['no difference', [0.5, 0.25], [0.5, 0.25]],
    ['large scores', [1000.1, 2000.1, 3000.1], [1000, 2000, 3000]],
  ])('is null with a reason if all differences are equal: %s', (_, one, other) => {
    const pair = intervalOf(one, other)
    expect([pair?.se, pair?.ci_low, pair?.ci_high]).toEqual([0, null, null])
    expect(pair?.reasons.ci_low).toBe('all differences are equal')
  })

  it('is clamped to -1..1 for unit-range scores only', () => {
    expect(intervalOf([1, 1, 0.5], [0, 0, 0])).toMatchObject({ ci_high: 1 })
    expect(intervalOf([0, 0, 0], [1, 1, 0.5])).toMatchObject({ ci_low: -1 })
    expect(intervalOf([70, 75], [40, 40])?.ci_low).toBeCloseTo(32.5 - 12.706205 * 2.5, 4)
    // A third agent reveals an unbounded metric.
    const pairs = judged([single('A', [1, 1, 0.5]), single('B', [0, 0, 0]), single('C', [0, 0, 7])]).pairs
    expect(pairs[0]?.ci_high).toBeGreaterThan(1)
  })
})

it('has no interval for equal scores, unless all pass or all fail', () => {
  const [same, pass] = judged([single('A', [0.5, 0.5, 0.5]), single('B', [1, 1, 1])]).agents
  expect([same?.ci_low, same?.ci_high, same?.method]).toEqual([null, null, null])
  expect(same?.reasons.ci_low).toBe('all scenarios have the same score')
  expect([pass?.ci_high, pass?.method]).toEqual([1, 'wilson'])
  const [unbounded] = judged([single('A', [1, 1, 1]), single('B', [2, 3, 4])]).agents
  expect([unbounded?.ci_low, unbounded?.method]).toEqual([null, null])
})

describe('scores outside 0 and 1', () => {
  const low = [40, 41, 42, 43, 44, 45, 46, 47]
  const high = low.map((score) => score + 30)
  const agents = [single('low', low), single('high', high)]

  // Scores were once clamped to 1, which made the agents equal.
  it('keep their means and difference', () => {
    const { agents: figures, pairs, is_unit_range } = judged(agents)
    expect(figures.map(({ mean }) => mean)).toEqual([43.5, 73.5])
    expect(pairs[0]).toMatchObject({ difference: -30, n: 8, p_value: 2 / 256, significant: true })
    expect(is_unit_range).toBe(false)
    expect(judged([single('A', [-1, 2, 0.5, 1.5, 0.25])]).agents[0]?.mean).toBeCloseTo(0.65, 12)
  })

  it('count no passes without a threshold', () => {
    const { agents: figures, pairs, threshold } = judged(agents)
    expect(threshold).toBeNull()
    expect(figures[0]).toMatchObject({ n_passed: null, pass_at_k: null, pass_hat_k: null })
    expect(pairs[0]).toMatchObject({ only_a_passes: null, only_b_passes: null, neither_passes: null, mcnemar_p: null })
    for (const reason of [figures[0]?.reasons.n_passed, pairs[0]?.reasons.only_a_passes, pairs[0]?.reasons.mcnemar_p])
      expect(reason).toContain('set a pass threshold')
  })

  it('pass at the threshold', () => {
    const chosen = judge({ agents, complete: true, threshold: 45 }, 'zero')
    expect([chosen.threshold, ...chosen.agents.map(({ n_passed }) => n_passed)]).toEqual([45, 3, 8])
    expect(chosen.pairs[0]).toMatchObject({ only_a_passes: 0, only_b_passes: 5, both_pass: 3, mcnemar_p: 0.0625 })
    expect(judge({ agents: [single('A', a)], complete: true, threshold: 0.5 }, 'zero').agents[0]?.n_passed).toBe(7)
  })

  it('have no new passes or failures without a threshold', () => {
    const compared = (threshold?: number) => compare({ agents, complete: true, threshold }, () => 'bmr_high').pairs[0]
    expect(compared()).toMatchObject({ new_passes: null, new_failures: null, still_failing: null })
    expect([compared()?.worse.length, compared(45)?.new_failures?.length]).toEqual([8, 5])
  })
})

it('does not compare scores of different metrics', () => {
  const [reward, seconds] = [single('A', [1, 0, 1]), single('B', [30, 40, 50])]
  const pairOf = (metric: string | null) =>
    judged([
      { ...reward, metric: 'reward' },
      { ...seconds, metric },
    ]).pairs[0]
  expect(pairOf('seconds')).toMatchObject({ n: 0, difference: null, p_value: null, significant: false })
  expect(pairOf('seconds')?.reasons.difference).toBe('they use different metrics')
  expect(pairOf('reward')?.n).toBe(3)
  expect(pairOf(null)?.n).toBe(3)
})

// Counting only scored timeouts favored luck when failures were excluded.
it('excludes all timeouts together with failures, scored or not', () => {
  const scored = { ...outcome('s0', 1), failure_reason: { exception_type: 'AgentTimeoutError' } }
  const foreign = { ...outcome('s3', 1), failure_reason: { exception_type: 'TimeoutException' } }
  const crashed = { ...outcome('s4', 0.5), failure_reason: { exception_type: 'NonZeroAgentExitCodeError' } }
  const late = { ...outcome('s5', 'TIMEOUT'), score: 0.5 }
  const timed = agent('A', [scored, outcome('s1', 'TIMEOUT'), outcome('s2', 0.5), foreign, crashed, late])
  const [out] = judged([timed], 'leave_out').agents
  expect([out?.mean, out?.n_scenarios]).toEqual([0.5, 2])
  const [zero] = judged([timed], 'zero').agents
  expect([zero?.mean, zero?.n_scenarios]).toEqual([3.5 / 6, 6])
})

describe('a difference that is not significant', () => {
  it('does not need fewer scenarios than there are', () => {
    // p = 2 / 64 is too high for three pairs, though the formula asks for one scenario.
    const three = [single('A', Array(6).fill(1)), single('B', Array(6).fill(0)), single('C', Array(6).fill(0))]
    const [pair] = judged(three).pairs
    expect([pair?.n, pair?.p_value, pair?.significant, pair?.scenarios_needed]).toEqual([6, 0.03125, false, null])
    expect(pair?.reasons.scenarios_needed).toBe(
      'p cannot fall below 0.09375 with 6 scenarios and 3 pairs; at least 7 are needed',
    )
  })

  it('reports the minimum number of scenarios', () => {
    const [pair] = judged([single('A', [1, 1, 0.9]), single('B', [0, 0.1, 0])]).pairs
    expect([pair?.n, pair?.p_value, pair?.significant, pair?.scenarios_needed]).toEqual([3, 0.25, false, null])
    expect(pair?.reasons.scenarios_needed).toBe('p cannot fall below 0.25 with 3 scenarios; at least 6 are needed')
  })
})

it('yields after each agent and pair', () => {
  const agents = Array.from({ length: 8 }, (_, i) => single(`agent ${i}`, [i / 8, 1]))
  const steps = judging({ agents, complete: true }, 'zero')
  let yields = 0
  while (!steps.next().done) yields++
  expect(yields).toBeGreaterThanOrEqual(8 + 28)
})

describe('usage', () => {
  const attempt = (usage: AttemptOutcome['usage'], state = 'COMPLETED'): AttemptOutcome => ({
    ...outcome('s', state),
    usage,
  })
  const figuresOf = (...outcomes: AttemptOutcome[]) => judged([agent('a', outcomes)]).agents[0]

  it('sums what is reported, including failed attempts', () => {
    const figures = figuresOf(
      attempt({ n_input_tokens: 10, n_cache_tokens: null, n_output_tokens: 1, cost_usd: 0.5 }),
      attempt({ n_input_tokens: 20, n_output_tokens: 2 }, 'TIMEOUT'),
      attempt({ unknown_because: 'the agent left nothing' }),
      attempt(undefined),
    )
    expect(figures).toMatchObject({ n_input_tokens: 30, n_cache_tokens: null, n_output_tokens: 3, cost_usd: 0.5 })
    expect(figures).toMatchObject({ n_with_tokens: 2, n_with_cost: 1 })
    expect(figures?.reasons.n_cache_tokens).toBe('the agent left nothing')
  })

  it('divides the cost by the scenarios that pass if every counted attempt reports it', () => {
    const at = (id: string, score: number | string, cost_usd?: number) => ({
      ...outcome(id, score),
      usage: { cost_usd },
    })
    const perSolved = (...outcomes: AttemptOutcome[]) => {
      const figures = figuresOf(...outcomes)
      return [figures?.cost_per_solved, figures?.reasons.cost_per_solved]
    }
    // Two scenarios pass; failed attempts are paid for too.
    const paid = [at('s1', 1, 0.5), at('s1', 1, 0.25), at('s2', 1, 0.5), at('s3', 'FAILED', 0.25)]
    expect(perSolved(...paid)).toEqual([0.75, undefined])
    expect(perSolved(...paid, at('s4', 'CANCELED'))).toEqual([0.75, undefined])
    expect(perSolved(...paid, at('s4', 1))).toEqual([null, "1 counted attempt doesn't report the cost"])
    expect(perSolved(at('s1', 0.5, 1))).toEqual([null, 'no scenario passes'])
    expect(perSolved(at('s1', 7, 1))).toEqual([null, 'scores are outside 0 to 1; set a pass threshold to count passes'])
    expect(perSolved(at('s1', 1))).toEqual([null, 'no attempt reports cost'])
  })

  it('has a reason for a figure that no attempt reports', () => {
    expect(figuresOf(attempt(null))?.reasons.cost_usd).toBe('no attempt reports cost')
  })
})
