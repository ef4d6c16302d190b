import { expect, it } from 'vitest'
import type { ComparedPair, CompareReport } from '#lib/protocol/reports.ts'
import { compareVerdict } from './compare-verdict.ts'

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
    settled: false,
    scenarios_to_settle: 1031,
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

it('says whether a side is better or worse than its baseline, by how much and with which doubt', () => {
  expect(summaryOf([pair('A')])).toEqual({
    lead: 'A in the new job is better than in the old job by 0.033 (95 % interval of the difference -0.131 to 0.198, paired over 15 scenarios, p 1.0000): not settled; about 1,000 scenarios would settle it.',
    more: ['Of 15 scenarios, 2 scored worse (0 newly failing), 1 better (1 newly passing) and 12 the same.'],
    tone: 'neutral',
  })
  const worse = pair('A', { difference: -0.4, ci_low: -0.6, ci_high: -0.2, p_value: 0.001, settled: true })
  expect(summaryOf([worse], false)).toMatchObject({
    lead: expect.stringMatching(/^So far: A in the new job is worse than in the old job by 0\.400 .*: settled\.$/),
    tone: 'danger',
  })
})

it('counts the sides that are better and worse, and tells the largest that is settled, a loss before any gain', () => {
  const gain = pair('A', { difference: 0.9, p_value: 0.001, p_adjusted: 0.004, settled: true })
  const loss = pair('B', {
    difference: -0.2,
    ci_low: -0.3,
    ci_high: -0.1,
    p_value: 0.01,
    p_adjusted: 0.03,
    settled: true,
  })
  const unsure = pair('C', { difference: -0.5 })
  const none = pair('D', { difference: null, p_value: null, p_adjusted: null })
  expect(summaryOf([unsure, gain, none, loss])).toEqual({
    lead: 'Of 4 sides 1 is better than the baseline and 1 is worse; 2 are not settled.',
    more: [
      'The largest loss: B in the new job is worse than in the old job by 0.200 (95 % interval of the difference -0.300 to -0.100, paired over 15 scenarios, p 0.0100, with all 3 sides regarded 0.0300): settled.',
      'Of 60 scenarios compared over 4 sides, 8 scored worse (0 newly failing), 4 better (4 newly passing) and 48 the same.',
    ],
    tone: 'danger',
  })
  expect(summaryOf([unsure, gain])?.more[0]).toMatch(/^The largest gain: A in the new job is better than in the old/)
})

it('makes no loss of what may be chance', () => {
  const [down, up] = [pair('A', { difference: -0.006 }), pair('B', { difference: 0.07 })]
  expect(summaryOf([down, up])).toMatchObject({
    lead: 'Of 2 sides none is settled to be better or worse than the baseline.',
    more: [expect.stringMatching(/^The largest difference: B in the new job is better/), expect.anything()],
    tone: 'neutral',
  })
})

it('names an agent that is compared with another one, or with one of its own job', () => {
  expect(summaryOf([pair('A', { b: side('B', 'old') })])?.lead).toMatch(
    /^A in the new job is better than B in the old job by/,
  )
  expect(summaryOf([pair('A', { b: side('A', 'new') })])?.lead).toMatch(/than A in the new job by/)
})

it('says why two cannot be compared, and nothing where no side has a baseline', () => {
  expect(summaryOf([pair('A', { difference: null, reasons: { difference: 'no scenario in common' } })])?.lead).toBe(
    'A in the new job and A in the old job cannot be compared: no scenario in common.',
  )
  const apart = { difference: null, n: 0, reasons: { difference: 'they are judged by different metrics' } }
  const several = summaryOf([pair('A', apart), pair('B', apart)])
  expect(several?.lead).toBe('None of 2 sides can be compared with the baseline.')
  expect(several?.more[0]).toMatch(/^A in .* cannot be compared: they are judged by different metrics\.$/)
  expect(summaryOf([])).toBeNull()
})

it('makes no gain of a baseline whose attempts all broke off', () => {
  const counts = { mean: 0, n_completed: 0, n_failed: 15, n_timeout: 0, n_cancelled: 0, n_other: 0 }
  const agents = [
    { ...side('A', 'old'), ...counts },
    { ...side('A', 'new'), ...counts, mean: 0.9, n_completed: 15, n_failed: 0 },
  ]
  const gain = pair('A', { difference: 0.9, p_value: 0.001, settled: true })
  expect(compareVerdict({ jobs, agents, pairs: [gain], complete: true } as unknown as CompareReport)).toMatchObject({
    more: [expect.stringMatching(/^No attempt completed: A in the old job \(15 failed\)\./), expect.anything()],
    tone: 'attention',
  })
})

// The solution that comes with the tasks was the gain of a comparison, and nop its loss.
it('counts what checks the tasks only where nothing else is compared', () => {
  const oracle = pair('oracle', { b: side('A', 'new'), difference: 0.6, p_value: 0.001, settled: true })
  const nop = pair('nop', { b: side('A', 'new'), difference: -0.4, p_value: 0.001, settled: true })
  const unsure = pair('B', { b: side('A', 'new') })
  expect(summaryOf([oracle, unsure, nop])).toEqual({
    lead: expect.stringMatching(
      /^B in the new job is better than A in the new job by .* with all 3 sides regarded .*: not settled/,
    ),
    more: ['oracle and nop check the tasks and are not counted here.', expect.stringMatching(/^Of 15 scenarios, /)],
    tone: 'neutral',
  })
  expect(summaryOf([oracle])?.lead).toMatch(/^oracle in the new job is better than A/)
})

it('has nothing to settle where nothing differs', () => {
  const same = pair('A', { difference: 0, scenarios_to_settle: null })
  expect(summaryOf([same])?.lead).toMatch(/^A in the new job scores the same as in the old job \(.*\)\.$/)
})
