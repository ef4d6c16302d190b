import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, JudgedAgent, JudgedJob } from './figures.ts'
import { compare, judge } from './testing.ts'

const six = (value: number | null | undefined) => (value == null ? value : Math.round(value * 1e6) / 1e6)

const attempt = (scenario: string, more: Partial<AttemptOutcome>): AttemptOutcome => ({
  scenario_id: scenario,
  scenario_name: scenario,
  state: 'COMPLETED',
  ...more,
})

const agent = (
  agent_name: string,
  metric: string | null,
  outcomes: AttemptOutcome[],
  job_id = 'bmj_1',
): JudgedAgent => ({
  agent_name,
  model_name: null,
  benchmark_run_id: `bmr_${agent_name}`,
  job_id,
  metric,
  outcomes,
})

const scored = (name: string, scores: readonly (number | string)[]) =>
  agent(
    name,
    'edits',
    scores.map((score, i) => attempt(`s${i}`, typeof score === 'number' ? { score } : { state: score, score: null })),
  )

const negated = ({ agents, ...job }: JudgedJob): JudgedJob => ({
  ...job,
  direction: 'higher',
  threshold: job.threshold === undefined ? undefined : -job.threshold,
  agents: agents.map((each) => ({
    ...each,
    outcomes: each.outcomes.map((outcome) => ({ ...outcome, score: outcome.score == null ? null : -outcome.score })),
  })),
})

describe('lower is better', () => {
  // Edits per scenario: A needs fewer on 6 of 6 scenarios.
  const job: JudgedJob = {
    agents: [scored('A', [2, 0, 4, 1, 3, 2]), scored('B', [5, 3, 4.5, 6, 7, 3])],
    complete: true,
    direction: 'lower',
    threshold: 3,
  }

  it('passes at or below the threshold and ranks the lower mean first', () => {
    const { agents, pairs, lower_is_better } = judge(job)
    expect(lower_is_better).toBe(true)
    expect(agents.map(({ mean, n_passed, rank_low, rank_high }) => [mean, n_passed, rank_low, rank_high])).toEqual([
      [2, 5, 1, 1],
      [4.75, 2, 2, 2],
    ])
    // Differences -3, -3, -0.5, -5, -4, -1: all of one sign, so p = 2 / 2^6.
    expect(pairs[0]).toMatchObject({ difference: -2.75, p_value: 0.03125, significant: true })
    // s0, s3 and s4 pass for A alone, none for B alone: p = 2 / 2^3.
    expect(pairs[0]).toMatchObject({ only_a_passes: 3, only_b_passes: 0, mcnemar_p: 0.25 })
  })

  it('counts a higher score as worse', () => {
    const [pair] = compare(job, ({ agent_name }) => (agent_name === 'B' ? 'bmr_A' : null)).pairs
    expect([pair?.worse.length, pair?.better.length]).toEqual([6, 0])
    expect(pair?.new_failures?.map(({ scenario_id }) => scenario_id)).toEqual(['s0', 's3', 's4'])
  })

  it('excludes failures, which a 0 would reward', () => {
    const { rule, agents } = judge({ ...job, agents: [scored('A', [2, 'FAILED', 4, 'TIMEOUT'])] })
    expect([rule, agents[0]?.mean, agents[0]?.n_scenarios]).toEqual(['leave_out', 3, 2])
  })

  it('has no default threshold', () => {
    const { threshold, agents } = judge({ agents: [scored('A', [0, 1, 0.5])], complete: true, direction: 'lower' })
    expect([threshold, agents[0]?.n_passed]).toEqual([null, null])
    expect(agents[0]?.reasons.n_passed).toBe('lower is better; set a pass threshold to count passes')
  })

  it('judges like the negated scores where higher is better', () => {
    let state = 7
    const next = () => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    }
    for (let round = 0; round < 40; round++) {
      const scores = (shift: number) =>
        Array.from({ length: 12 }, () => (next() < 0.1 ? 'CANCELED' : Math.round(40 * (next() + shift)) / 8 - 2))
      const given: JudgedJob = {
        agents: [scored('A', scores(0)), scored('B', scores(0.2)), scored('C', scores(0.6))],
        complete: true,
        direction: 'lower',
        threshold: 1,
      }
      const [lower, higher] = [judge(given, 'leave_out'), judge(negated(given), 'leave_out')]
      const order = (each: typeof lower) =>
        each.agents.map(({ rank_low, rank_high, n_passed }) => [rank_low, rank_high, n_passed])
      expect(order(lower)).toEqual(order(higher))
      const tests = (each: typeof lower) =>
        each.pairs.map((pair) => [
          pair.p_value,
          pair.p_adjusted,
          pair.significant,
          pair.mcnemar_p,
          pair.scenarios_needed,
        ])
      expect(tests(lower)).toEqual(tests(higher))
      expect(lower.pairs.map(({ difference }) => difference)).toEqual(
        higher.pairs.map(({ difference }) => difference && -difference),
      )
    }
  })
})

describe('metrics of an agent', () => {
  const rewards = (scenario: string, score: number, speed?: number) =>
    attempt(scenario, { score, rewards: { reward: score, ...(speed !== undefined && { speed }) } })

  it('averages each reward key like the judged one', () => {
    const outcomes = [rewards('s0', 1, -2), rewards('s0', 0, 4), rewards('s1', 1, 6), rewards('s2', 0)]
    const [figures] = judge({ agents: [agent('A', 'reward', outcomes)], complete: true }).agents
    // Scenario means 0.5, 1, 0: mean 0.5, se 0.5 / sqrt 3.
    const { mean, se, ci_low, ci_high, n_scenarios, n_attempts } = figures ?? {}
    expect(figures?.metrics.reward).toEqual({
      mean,
      se,
      ci_low,
      ci_high,
      n_scenarios,
      n_attempts,
      lower_is_better: false,
    })
    expect([mean, six(se), n_scenarios, n_attempts]).toEqual([0.5, 0.288675, 3, 4])
    // Speed: scenario means 1, 6 and 0 for the missing value; t interval with 4.302653 for two degrees of freedom.
    const speed = figures?.metrics.speed
    expect([six(speed?.mean), six(speed?.se), speed?.n_attempts]).toEqual([2.333333, 1.855921, 4])
    expect([six(speed?.ci_low), six(speed?.ci_high)]).toEqual([-5.652052, 10.318719])
  })

  it('keeps the keys of each job apart', () => {
    const { agents } = judge({
      agents: [agent('A', 'reward', [rewards('s0', 1, 2)], 'bmj_1'), agent('B', 'reward', [rewards('s0', 1)], 'bmj_2')],
      complete: true,
    })
    expect(agents.map(({ metrics }) => Object.keys(metrics))).toEqual([['reward', 'speed'], ['reward']])
  })

  it('leaves unreported costs out and counts those of failures', () => {
    const cost = (scenario: string, cost_usd: number | null, state = 'COMPLETED') =>
      attempt(scenario, {
        state,
        score: 1,
        usage: { cost_usd, n_input_tokens: 10, n_output_tokens: 5 },
        duration_ms: 100,
      })
    const outcomes = [
      cost('s0', 0.1),
      cost('s0', 0.3, 'FAILED'),
      cost('s1', null),
      cost('s2', 0.6, 'TIMEOUT'),
      cost('s3', 9, 'CANCELED'),
    ]
    const [figures] = judge({ agents: [agent('A', null, outcomes)], complete: true }).agents
    // Scenario means 0.2 and 0.6.
    expect(figures?.metrics['@cost_usd']).toMatchObject({ n_scenarios: 2, n_attempts: 3, lower_is_better: true })
    expect(six(figures?.metrics['@cost_usd']?.mean)).toBe(0.4)
    expect(figures?.metrics['@tokens']).toMatchObject({ mean: 15, n_scenarios: 3, n_attempts: 4, ci_low: null })
    expect(figures?.metrics['@duration_ms']).toMatchObject({ mean: 100, n_attempts: 4 })
  })

  it('judges by cost: the cheaper agent leads, and unreported costs are excluded', () => {
    const costs = (name: string, values: readonly (number | null)[]) =>
      agent(
        name,
        '@cost_usd',
        values.map((score, i) => attempt(`s${i}`, { state: 'FAILED', score, usage: { cost_usd: score } })),
      )
    const { agents, excluded_scenarios, is_unit_range, threshold, rule } = judge({
      agents: [costs('A', [0.5, 0.4, 0.3, 0.2, 0.1, 0.2, null]), costs('B', [0.6, 0.5, 0.4, 0.3, 0.2, 0.3, 0.4])],
      complete: true,
    })
    expect([is_unit_range, threshold, rule]).toEqual([false, null, 'zero'])
    expect(agents.map(({ rank_low, rank_high, n_scenarios }) => [rank_low, rank_high, n_scenarios])).toEqual([
      [1, 1, 6],
      [2, 2, 7],
    ])
    expect(excluded_scenarios.map(({ missing_from }) => missing_from.map(({ why }) => why))).toEqual([['not_reported']])
    expect(agents[0]?.metrics['@cost_usd']?.mean).toBe(agents[0]?.mean)
  })
})
