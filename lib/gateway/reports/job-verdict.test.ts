import { describe, expect, it } from 'vitest'
import { turned } from '#lib/protocol/report-words.ts'
import type { AgentFigures, PairFigures } from '#lib/protocol/reports.ts'
import { verdictOf } from './job-verdict.ts'

const identity = (name: string) => ({
  agent_name: name,
  model_name: null,
  benchmark_run_id: `bmr_${name}`,
  job_id: 'bmj_1',
})
const figures = (name: string, mean: number | null, part: Partial<AgentFigures> = {}) =>
  ({
    ...identity(name),
    mean,
    n_scenarios: 10,
    ci_low: 0.305533,
    ci_high: 0.894467,
    reasons: {},
    ...part,
  }) as AgentFigures
const pair = (part: Partial<PairFigures> = {}) =>
  ({
    a: identity('A'),
    b: identity('B'),
    n: 10,
    difference: 0.15,
    ci_low: -0.016565,
    ci_high: 0.316565,
    settled: false,
    fewest_to_settle: 6,
    scenarios_to_settle: 42,
    only_a_passes: 1,
    only_b_passes: 0,
    reasons: {},
    ...part,
  }) as PairFigures

const verdict = (agents: AgentFigures[], pairs: PairFigures[] = [], complete = true) =>
  verdictOf({ complete, agents, pairs, excluded_scenarios: [] })

describe('the verdict', () => {
  const two = [figures('B', 0.45), figures('A', 0.6)]

  it('says who is ahead, by how much, and that it is not settled', () => {
    expect(verdict(two, [pair()])).toEqual({
      lead: 'A is ahead of B by 0.150 (95 % interval -0.017 to 0.317, paired over 10 scenarios): not settled; about 42 scenarios would settle it.',
      more: [],
      tone: 'attention',
    })
  })

  it('reads the same whichever of the two comes first', () => {
    const swapped = pair({
      a: identity('B'),
      b: identity('A'),
      difference: -0.15,
      ci_low: -0.316565,
      ci_high: 0.016565,
    })
    expect(verdict(two, [swapped]).lead).toBe(verdict(two, [pair()]).lead)
    expect(turned(swapped)).toMatchObject({ a: { agent_name: 'A' }, only_a_passes: 0, only_b_passes: 1 })
  })

  it('says that few scenarios settle nothing, however they differ', () => {
    const few = pair({ n: 5, scenarios_to_settle: null })
    expect(verdict(two, [few]).lead).toMatch(/: not settled, which takes 6 scenarios at least\.$/)
  })

  it('says that it is settled', () => {
    const settled = verdict(two, [pair({ settled: true, scenarios_to_settle: null })])
    expect(settled.lead).toMatch(/: settled\.$/)
    expect(settled.tone).toBe('ok')
  })

  it('compares the agents one chooses from, and not those that check the tasks', () => {
    const controls = [figures('nop', 0), figures('oracle', 0.9)]
    const said = verdict([...controls, ...two], [pair(), pair({ a: identity('oracle'), b: identity('A') })])
    expect(said.lead).toMatch(/^A is ahead of B by 0\.150/)
    expect(said.more).toContain('oracle (0.900) and nop (0.000) check the tasks and are not compared here.')
    const alone = verdict([figures('A', 0.2), ...controls], [pair({ a: identity('oracle'), b: identity('A') })])
    expect(alone.lead).toMatch(/^A scores 0\.200 \(95 % interval/)
    expect(alone.more).toContain('oracle (0.900) and nop (0.000) check the tasks and are not compared here.')
    expect(verdict(controls, [pair({ a: identity('oracle'), b: identity('nop') })]).lead).toMatch(
      /^oracle is ahead of nop/,
    )
  })

  it('says why a difference is not settled whose interval leaves out 0', () => {
    const unsure = pair({ ci_low: 0.011, p_value: 0.125, p_adjusted: 0.5 })
    expect(verdict(two, [unsure]).more).toEqual(['The interval leaves out 0, but p is 0.1250; settled is below 0.05.'])
  })

  it('says by which p a difference is settled, and by how much several pairs raise it', () => {
    const sure = pair({ settled: true, ci_low: 0.1, p_value: 0.00390625, p_adjusted: 0.0078125 })
    const third = pair({ a: identity('C'), p_value: 0.00001, p_adjusted: 0.00003 })
    expect(verdict(two, [sure]).more).toEqual(['p is 0.0039; settled is below 0.05.'])
    expect(verdict(two, [sure, third]).more[0]).toBe(
      'p is 0.0039, and 0.0078 with both pairs regarded; settled is below 0.05.',
    )
  })

  it('says that no attempt completed, and how they ended', () => {
    const failed = { n_completed: 0, n_failed: 1199, n_timeout: 1, n_cancelled: 0, n_other: 0 }
    const pairs = [pair({ difference: 0 })]
    expect(verdict([figures('A', 0, failed), figures('B', 0, failed)], pairs)).toEqual({
      lead: 'No attempt of any agent completed: nothing can be said of the agents.',
      more: [
        '2,400 attempts: 2,398 failed, 2 timed out.',
        'Each 0 stands for a failure or a timeout, not for a wrong answer.',
      ],
      tone: 'attention',
    })
    const cancelled = { ...failed, n_failed: 0, n_timeout: 0, n_cancelled: 1 }
    expect(verdict([figures('A', null, cancelled)], [], false)).toMatchObject({
      lead: 'So far: no attempt of any agent completed: nothing can be said of the agents.',
      more: ['1 attempt: 1 cancelled.'],
    })
    expect(verdict([figures('A', 0, failed), figures('B', 0, { ...failed, n_completed: 1 })], pairs).lead).toBe(
      'A and B score the same (95 % interval -0.017 to 0.317, paired over 10 scenarios).',
    )
  })

  it('is about what is known so far while the job runs', () => {
    expect(verdict(two, [pair()], false).lead).toMatch(/^So far: A is ahead/)
  })

  it('gives one agent its score with the interval, and why there is none', () => {
    expect(verdict([figures('A', 0.6)]).lead).toBe('A scores 0.600 (95 % interval 0.306 to 0.894; over 10 scenarios).')
    const one = figures('A', 1, {
      n_scenarios: 1,
      ci_low: null,
      ci_high: null,
      reasons: { ci_low: 'one scenario has no spread' },
    })
    expect(verdict([one]).lead).toBe('A scores 1.000 (no interval: one scenario has no spread; over 1 scenario).')
  })

  it('says what cannot be computed, and why', () => {
    expect(verdict([]).more).toEqual(['No agent has an outcome.'])
    const none = figures('A', null, { reasons: { mean: 'all attempts were cancelled' } })
    expect(verdict([none])).toMatchObject({
      lead: 'Nothing can be said of the agents.',
      more: ['A has no score: all attempts were cancelled.'],
    })
    expect(verdict(two, [pair({ difference: null, reasons: { difference: 'no scenario in common' } })]).lead).toBe(
      'A and B cannot be compared: no scenario in common.',
    )
  })

  it('speaks of the two best of several, and of how many others the first is ahead for sure', () => {
    const agents = [figures('C', 0.1), ...two]
    const pairs = [
      pair({ a: identity('C'), b: identity('B'), difference: -0.35, settled: true }),
      pair({ a: identity('C'), b: identity('A'), difference: -0.5, settled: true }),
      pair(),
    ]
    expect(verdict(agents, pairs)).toMatchObject({
      lead: expect.stringMatching(/^A is ahead of B by 0\.150/),
      more: ['Its lead is settled over 1 of the 2 other agents.'],
    })
    expect(verdict(agents, [...pairs.slice(0, 2), pair({ settled: true })]).more).toEqual([
      'Its lead is settled over both other agents.',
    ])
  })

  it('says how much there is of a job that was cancelled', () => {
    const ten = { n_completed: 9, n_failed: 0, n_timeout: 0, n_cancelled: 1, n_other: 0 }
    const agents = [figures('A', 0.6, ten), figures('B', 0.45, ten)]
    const cancelled = { agents, pairs: [pair()], excluded_scenarios: [], state: 'cancelled' }
    expect(verdictOf({ ...cancelled, complete: true }).more).toEqual(['The job was cancelled: there are 20 attempts.'])
    expect(verdictOf({ ...cancelled, state: 'failed', planned: 1200, complete: true }).more).toEqual([
      'The job failed: there are 20 of 1,200 attempts.',
    ])
    expect(verdictOf({ ...cancelled, state: 'completed', planned: 64, complete: true }).more).toEqual([
      'Only 20 of 64 attempts have an outcome.',
    ])
    // Outcomes may still come of what runs.
    expect(verdictOf({ ...cancelled, complete: false }).more).toEqual([])
  })

  it('tells apart an agent that stands twice in the job', () => {
    const twice = [figures('A', 0.6), figures('A', 0.45, { benchmark_run_id: 'bmr_again' })]
    const between = pair({ b: { ...identity('A'), benchmark_run_id: 'bmr_again' } })
    expect(verdict(twice, [between]).lead).toMatch(/^A \(1 of 2\) is ahead of A \(2 of 2\) by 0\.150/)
  })

  it('makes no answer of an agent whose attempts all broke off', () => {
    const counts = { n_completed: 0, n_failed: 9, n_timeout: 1, n_cancelled: 0, n_other: 0 }
    const broken = figures('B', 0, counts)
    const words =
      'No attempt completed: B (9 failed, 1 timed out). Each 0 there stands for a failure or a timeout, not for a wrong answer.'
    const sound = figures('A', 0.6, { ...counts, n_completed: 10, n_failed: 0, n_timeout: 0 })
    expect(verdict([broken, sound], [pair({ settled: true })])).toMatchObject({ more: [words], tone: 'attention' })
    const alone = verdict([broken, figures('oracle', 1, { ...counts, n_completed: 10 })])
    expect(alone).toMatchObject({ lead: expect.stringMatching(/^B scores 0\.000/), tone: 'attention' })
    expect(alone.more[0]).toBe(words)
  })

  it('calls a tie a tie, which there is nothing to settle of', () => {
    const tie = { difference: 0, scenarios_to_settle: null, p_value: 1, p_adjusted: 1 }
    expect(verdict(two, [pair(tie)])).toEqual({
      lead: 'A and B score the same (95 % interval -0.017 to 0.317, paired over 10 scenarios).',
      more: [],
      tone: 'neutral',
    })
    expect(verdict(two, [pair({ ...tie, se: 0, mean_a: 0.45 })]).lead).toBe(
      'A and B score the same at each of 10 scenarios, 0.450 in the mean.',
    )
  })

  it('names all who share the highest score', () => {
    const tie = { difference: 0, scenarios_to_settle: null }
    const pairs = ['B', 'C', 'D', 'E'].map((name) => pair({ ...tie, a: identity('A'), b: identity(name) }))
    const same = (...names: string[]) => names.map((name) => figures(name, 0.7))
    expect(verdict(same('A', 'B', 'C'), pairs).lead).toBe('All 3 agents score the same: 0.700.')
    expect(verdict([...same('A', 'B', 'C'), figures('D', 0.1)], pairs).lead).toBe(
      '3 of 4 agents share the highest score, 0.700: A, B, C.',
    )
    expect(verdict([...same('A', 'B', 'C', 'D'), figures('E', 0.1)], pairs).lead).toBe(
      '4 of 5 agents share the highest score, 0.700: A, B, C and 1 more.',
    )
  })

  it('promises no more than an estimate can hold', () => {
    const needs = (scenarios_to_settle: number) => verdict(two, [pair({ scenarios_to_settle })]).lead
    expect(needs(447)).toMatch(/; about 450 scenarios would settle it\.$/)
    expect(needs(1)).toMatch(/; about 1 scenario would settle it\.$/)
    expect(needs(100_000)).toMatch(/; about 100,000 scenarios would settle it\.$/)
    expect(needs(6.7e20)).toMatch(/; more than 100,000 scenarios would settle it\.$/)
    expect(verdict(two, [pair({ difference: 1e-9 })]).lead).toMatch(/^A is ahead of B by less than 0\.001 \(/)
  })

  it('says why a difference is settled whose interval holds 0', () => {
    const odd = pair({ settled: true, p_value: 0.03125, p_adjusted: 0.03125 })
    expect(verdict(two, [odd]).more).toEqual(['The interval holds 0, but p is 0.0313; settled is below 0.05.'])
  })
})
