import { describe, expect, it } from 'vitest'
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
    significant: false,
    min_scenarios: 6,
    scenarios_needed: 42,
    only_a_passes: 1,
    only_b_passes: 0,
    reasons: {},
    ...part,
  }) as PairFigures

const verdict = (agents: AgentFigures[], pairs: PairFigures[] = [], complete = true) =>
  verdictOf({ complete, agents, pairs, excluded_scenarios: [] })

describe('verdictOf', () => {
  const two = [figures('B', 0.45), figures('A', 0.6)]
  const controlsNote = 'Not compared: oracle (0.900), nop (0.000), which only check the tasks.'

  it('names the leader, the difference and its significance', () => {
    expect(verdict(two, [pair()])).toEqual({
      lead: 'A leads B by 0.150 (95% CI -0.017 to 0.317, 10 paired scenarios). Not significant; about 42 scenarios needed.',
      more: [],
      tone: 'attention',
    })
  })

  it('leads with the lower score where lower is better', () => {
    const lower = pair({ lower_is_better: true, difference: 0.15 })
    const judged = (metric: string) =>
      verdictOf({ complete: true, agents: two, pairs: [lower], excluded_scenarios: [], metric, lower_is_better: true })
    expect(judged('edits').lead).toMatch(/^B scores 0\.150 lower \(better\) than A \(95% CI -0\.317 to 0\.017, /)
    expect(judged('@cost_usd').lead).toMatch(/^B costs \$0\.1500 less than A \(95% CI -\$0\.3166 to \$0\.0166, /)
    expect(judged('@cost_usd').more).toEqual(['Metric: cost in USD.'])
  })

  it('names the minimum number of scenarios', () => {
    const few = pair({ n: 5, scenarios_needed: null })
    expect(verdict(two, [few]).lead).toMatch(/ Not significant; at least 6 scenarios needed\.$/)
  })

  it('names a significant lead with its adjusted p', () => {
    const sure = pair({ significant: true, ci_low: 0.1, p_value: 0.00390625, p_adjusted: 0.0078125 })
    const third = pair({ a: identity('C'), p_value: 0.00001, p_adjusted: 0.00003 })
    expect(verdict(two, [sure])).toMatchObject({
      lead: expect.stringMatching(/ Significant, p = 0\.004\.$/),
      more: [],
      tone: 'ok',
    })
    const several = verdict(two, [sure, third])
    expect(several.lead).toMatch(/ Significant, adjusted p = 0\.008\.$/)
    expect(several.more[0]).toBe('Unadjusted p = 0.004; adjusted for 2 comparisons.')
  })

  it('does not compare controls unless there is nothing else', () => {
    const controls = [figures('nop', 0), figures('oracle', 0.9)]
    const found = verdict([...controls, ...two], [pair(), pair({ a: identity('oracle'), b: identity('A') })])
    expect(found.lead).toMatch(/^A leads B by 0\.150/)
    expect(found.more).toContain(controlsNote)
    const alone = verdict([figures('A', 0.2), ...controls], [pair({ a: identity('oracle'), b: identity('A') })])
    expect(alone.lead).toMatch(/^A scores 0\.200 \(95% CI/)
    expect(alone.more).toContain(controlsNote)
    expect(verdict(controls, [pair({ a: identity('oracle'), b: identity('nop') })]).lead).toMatch(/^oracle leads nop/)
  })

  it('reports that no attempt completed', () => {
    const failed = { n_completed: 0, n_failed: 1199, n_timeout: 1, n_cancelled: 0, n_other: 0 }
    const pairs = [pair({ difference: 0 })]
    expect(verdict([figures('A', 0, failed), figures('B', 0, failed)], pairs)).toEqual({
      lead: "No attempt completed, so agents can't be compared.",
      more: [
        '2,400 attempts: 2,398 failed, 2 timed out.',
        'Scores of 0 here reflect failures or timeouts, not wrong answers.',
      ],
      tone: 'attention',
    })
    expect(verdict([figures('A', 0, failed), figures('B', 0, { ...failed, n_completed: 1 })], pairs).lead).toBe(
      'A and B score the same (95% CI -0.017 to 0.317, 10 paired scenarios).',
    )
  })

  it('gives a single agent its score with an interval, or the reason for none', () => {
    expect(verdict([figures('A', 0.6)]).lead).toBe('A scores 0.600 (95% CI 0.306 to 0.894, 10 scenarios).')
    const one = figures('A', 1, {
      n_scenarios: 1,
      ci_low: null,
      ci_high: null,
      reasons: { ci_low: 'one scenario has no spread' },
    })
    expect(verdict([one]).lead).toBe('A scores 1.000 (no CI: one scenario has no spread, 1 scenario).')
  })

  it('gives reasons for missing figures', () => {
    expect(verdict([]).more).toEqual(['No agent has an outcome.'])
    const none = figures('A', null, { reasons: { mean: 'all attempts were cancelled' } })
    expect(verdict([none])).toMatchObject({
      lead: 'No agent has a score.',
      more: ['A has no score: all attempts were cancelled.'],
    })
    expect(verdict(two, [pair({ difference: null, reasons: { difference: 'no scenario in common' } })]).lead).toBe(
      "A and B can't be compared: no scenario in common.",
    )
  })

  it('counts the outcomes of a job that ended early', () => {
    const ten = { n_completed: 9, n_failed: 0, n_timeout: 0, n_cancelled: 1, n_other: 0 }
    const agents = [figures('A', 0.6, ten), figures('B', 0.45, ten)]
    const cancelled = { agents, pairs: [pair()], excluded_scenarios: [], state: 'cancelled' }
    expect(verdictOf({ ...cancelled, complete: true }).more).toEqual([
      'The job was canceled: 20 attempts have an outcome.',
    ])
    expect(verdictOf({ ...cancelled, state: 'failed', planned: 1200, complete: true }).more).toEqual([
      'The job failed: 20 of 1,200 attempts have an outcome.',
    ])
    expect(verdictOf({ ...cancelled, state: 'completed', planned: 64, complete: true }).more).toEqual([
      'Only 20 of 64 attempts have an outcome.',
    ])
    // More outcomes may arrive.
    expect(verdictOf({ ...cancelled, complete: false }).more).toEqual([])
  })

  it('numbers an agent that is listed twice', () => {
    const twice = [figures('A', 0.6), figures('A', 0.45, { benchmark_run_id: 'bmr_again' })]
    const between = pair({ b: { ...identity('A'), benchmark_run_id: 'bmr_again' } })
    expect(verdict(twice, [between]).lead).toMatch(/^A \(1 of 2\) leads A \(2 of 2\) by 0\.150/)
  })

  it('does not take failures for wrong answers', () => {
    const counts = { n_completed: 0, n_failed: 9, n_timeout: 1, n_cancelled: 0, n_other: 0 }
    const broken = figures('B', 0, counts)
    const words =
      'No attempt completed: B (9 failed, 1 timed out). Scores of 0 here reflect failures or timeouts, not wrong answers.'
    const sound = figures('A', 0.6, { ...counts, n_completed: 10, n_failed: 0, n_timeout: 0 })
    expect(verdict([broken, sound], [pair({ significant: true })])).toMatchObject({ more: [words], tone: 'attention' })
    const alone = verdict([broken, figures('oracle', 1, { ...counts, n_completed: 10 })])
    expect(alone).toMatchObject({ lead: expect.stringMatching(/^B scores 0\.000/), tone: 'attention' })
    expect(alone.more[0]).toBe(words)
  })

  it('reports a tie without significance', () => {
    const tie = { difference: 0, scenarios_needed: null, p_value: 1, p_adjusted: 1 }
    expect(verdict(two, [pair(tie)])).toEqual({
      lead: 'A and B score the same (95% CI -0.017 to 0.317, 10 paired scenarios).',
      more: [],
      tone: 'neutral',
    })
    expect(verdict(two, [pair({ ...tie, se: 0, mean_a: 0.45 })]).lead).toBe(
      'A and B score the same on all 10 scenarios (mean 0.450).',
    )
  })

  it('rounds estimates', () => {
    const needs = (scenarios_needed: number) => verdict(two, [pair({ scenarios_needed })]).lead
    expect(needs(447)).toMatch(/; about 450 scenarios needed\.$/)
    expect(needs(1)).toMatch(/; about 1 scenario needed\.$/)
    expect(needs(100_000)).toMatch(/; about 100,000 scenarios needed\.$/)
    expect(needs(6.7e20)).toMatch(/; more than 100,000 scenarios needed\.$/)
    expect(verdict(two, [pair({ difference: 1e-9 })]).lead).toMatch(/^A leads B by less than 0\.001 \(/)
  })
})
