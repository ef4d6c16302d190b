import { expect, it } from 'vitest'
import type { ComparedPair, CompareReport } from '#lib/protocol/reports.ts'
import { baselineChoice, compareVerdict } from './compare-report.ts'

const agent = (job_id: string, agent_name: string, number = 1) => ({
  agent_name,
  model_name: null,
  benchmark_run_id: `${job_id} ${agent_name} ${number}`,
  job_id,
})
const old = [agent('old', 'A', 1), agent('old', 'A', 2), agent('old', 'B')]
const now = [agent('new', 'A', 1), agent('new', 'B'), agent('new', 'A', 2), agent('new', 'A', 3), agent('new', 'C')]

it('compares each agent with the same one in the baseline, the second with the second', () => {
  const choose = baselineChoice([...old, ...now], ['old', 'new'], 'old')
  expect(now.map(choose)).toEqual(['old A 1', 'old B 1', 'old A 2', 'old A 1', null])
  expect(old.map(choose)).toEqual([null, null, null])
})

it('falls back to the only agent, and uses a given run or the first agent of a single job', () => {
  expect(now.map(baselineChoice([agent('old', 'X'), ...now], ['old', 'new'], 'old'))).toEqual(now.map(() => 'old X 1'))
  expect(now.map(baselineChoice([...old, ...now], ['old', 'new'], 'new C 1'))).toEqual(now.map(() => 'new C 1'))
  expect(now.map(baselineChoice(now, ['new'], 'new'))).toEqual(now.map(() => 'new A 1'))
  // Controls are not used as a baseline.
  const checked = [agent('new', 'nop'), ...now]
  expect(checked.map(baselineChoice(checked, ['new'], 'new'))).toEqual(checked.map(() => 'new A 1'))
  expect(() => baselineChoice(now, ['new'], 'other')).toThrow('baseline must be one of the jobs')
})

const side = (name: string, job_id: string) => ({
  agent_name: name,
  model_name: null,
  benchmark_run_id: `${job_id} ${name}`,
  job_id,
})
const pair = (name: string, part: Partial<ComparedPair> = {}) =>
  ({
    a: side(name, 'new'),
    b: side(name, 'old'),
    n: 15,
    difference: 0.0333333,
    ci_low: -0.131,
    ci_high: 0.198,
    p_value: 1,
    p_adjusted: 1,
    significant: false,
    scenarios_needed: 1031,
    new_passes: [{}],
    new_failures: [],
    worse: [{}, {}],
    better: [{}],
    reasons: {},
    ...part,
  }) as unknown as ComparedPair
const jobs = ['old', 'new'].map((id) => ({ id, name: `the ${id} job` }))
const summaryOf = (pairs: ComparedPair[], complete = true) =>
  compareVerdict({ jobs, agents: [], pairs, complete } as unknown as CompareReport)

it('reports the difference from the baseline and its significance', () => {
  expect(summaryOf([pair('A')])).toEqual({
    lead: 'A in the new job scores 0.033 higher than in the old job (95% CI -0.131 to 0.198, 15 paired scenarios). Not significant, p = 1.000; about 1,000 scenarios needed.',
    more: ['Of 15 scenarios, 2 scored worse (0 newly failing), 1 better (1 newly passing) and 12 the same.'],
    tone: 'neutral',
  })
  const worse = pair('A', { difference: -0.4, ci_low: -0.6, ci_high: -0.2, p_value: 0.001, significant: true })
  expect(summaryOf([worse], false)).toMatchObject({
    lead: expect.stringMatching(
      /^So far: A in the new job scores 0\.400 lower than in the old job .* Significant, p = 0\.001\.$/,
    ),
    tone: 'danger',
  })
})

it('counts better and worse runs and names the largest significant change, losses first', () => {
  const gain = pair('A', { difference: 0.9, p_value: 0.001, p_adjusted: 0.004, significant: true })
  const loss = pair('B', {
    difference: -0.2,
    ci_low: -0.3,
    ci_high: -0.1,
    p_value: 0.01,
    p_adjusted: 0.03,
    significant: true,
  })
  const unsure = pair('C', { difference: -0.5 })
  const none = pair('D', { difference: null, p_value: null, p_adjusted: null })
  expect(summaryOf([unsure, gain, none, loss])).toEqual({
    lead: 'Of 4 runs, 1 significantly better than the baseline, 1 significantly worse, 2 not significant.',
    more: [
      'Largest loss: B in the new job scores 0.200 lower than in the old job (95% CI -0.300 to -0.100, 15 paired scenarios). Significant, adjusted p = 0.030.',
      'Of 60 scenarios across 4 runs, 8 scored worse (0 newly failing), 4 better (4 newly passing) and 48 the same.',
    ],
    tone: 'danger',
  })
  expect(summaryOf([unsure, gain])?.more[0]).toMatch(
    /^Largest gain: A in the new job scores 0\.900 higher than in the old/,
  )
})

it('names another agent, or one of the same job', () => {
  expect(summaryOf([pair('A', { b: side('B', 'old') })])?.lead).toMatch(
    /^A in the new job scores .* higher than B in the old job \(/,
  )
  expect(summaryOf([pair('A', { b: side('A', 'new') })])?.lead).toMatch(/than A in the new job \(/)
})

it('gives the reason if runs cannot be compared, and returns null without a baseline', () => {
  expect(summaryOf([pair('A', { difference: null, reasons: { difference: 'no scenario in common' } })])?.lead).toBe(
    "A in the new job and A in the old job can't be compared: no scenario in common.",
  )
  const apart = { difference: null, n: 0, reasons: { difference: 'they use different metrics' } }
  const several = summaryOf([pair('A', apart), pair('B', apart)])
  expect(several?.lead).toBe('None of 2 runs can be compared with the baseline.')
  expect(several?.more[0]).toMatch(/^A in .* can't be compared: they use different metrics\.$/)
  expect(summaryOf([])).toBeNull()
})

it('does not call it a gain if the baseline only failed', () => {
  const counts = { mean: 0, n_completed: 0, n_failed: 15, n_timeout: 0, n_cancelled: 0, n_other: 0 }
  const agents = [
    { ...side('A', 'old'), ...counts },
    { ...side('A', 'new'), ...counts, mean: 0.9, n_completed: 15, n_failed: 0 },
  ]
  const gain = pair('A', { difference: 0.9, p_value: 0.001, significant: true })
  expect(compareVerdict({ jobs, agents, pairs: [gain], complete: true } as unknown as CompareReport)).toMatchObject({
    more: [expect.stringMatching(/^No attempt completed: A in the old job \(15 failed\)\./), expect.anything()],
    tone: 'attention',
  })
})

// oracle was once reported as a gain and nop as a loss.
it('counts controls only if there is nothing else', () => {
  const oracle = pair('oracle', { b: side('A', 'new'), difference: 0.6, p_value: 0.001, significant: true })
  const nop = pair('nop', { b: side('A', 'new'), difference: -0.4, p_value: 0.001, significant: true })
  const unsure = pair('B', { b: side('A', 'new') })
  expect(summaryOf([oracle, unsure, nop])).toEqual({
    lead: expect.stringMatching(
      /^B in the new job scores .* higher than A in the new job .* Not significant, adjusted p = 1\.000/,
    ),
    more: ['Not compared: oracle, nop, which only check the tasks.', expect.stringMatching(/^Of 15 scenarios, /)],
    tone: 'neutral',
  })
  expect(summaryOf([oracle])?.lead).toMatch(/^oracle in the new job scores 0\.600 higher than A/)
})
