import { expect, it } from 'vitest'
import { baselineChoice } from './compare-report.ts'

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
