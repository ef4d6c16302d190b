import { expect, it } from 'vitest'
import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { identifiedAttempts, withoutExcluded } from './marks.ts'

const attempt = (scenario: string, score: number) =>
  ({
    scenario_definition_id: scenario,
    scenario_name: scenario,
    state: 'COMPLETED',
    score,
  }) as ScenarioOutcome
const outcomeOf = (name: string, scenario_outcomes: ScenarioOutcome[], n_total_trials: number | null) => ({
  agent_name: name,
  benchmark_run_id: `bmr_${name}`,
  average_score: 0.5,
  n_total_trials,
  scenario_outcomes,
})
const job = {
  id: 'bmj_1',
  job_spec: { scenario_ids: ['s', 't'], agent_configs: [] },
  benchmark_outcomes: [
    outcomeOf('A', [attempt('s', 0), attempt('s', 1), attempt('t', 1)], 4),
    outcomeOf('B', [attempt('t', 0)], null),
  ],
} as unknown as BenchmarkJob

const left = ({ benchmark_outcomes }: BenchmarkJob) =>
  benchmark_outcomes?.map(({ n_total_trials, scenario_outcomes }) => [
    n_total_trials,
    ...scenario_outcomes.map(({ scenario_name, score }) => `${scenario_name} ${score}`),
  ])
const ids = (of: BenchmarkJob) =>
  identifiedAttempts(of)
    .flat()
    .map(({ attempt_id }) => attempt_id)

it('removes an attempt, whose siblings keep their IDs, or a scenario of all agents', () => {
  const first = { job_id: 'bmj_1', scenario_id: 's', attempt_id: 'bmr_A s 1' }
  const without = withoutExcluded(job, [first])
  expect(left(without)).toEqual([
    [3, 's 1', 't 1'],
    [null, 't 0'],
  ])
  expect(ids(without)).toEqual(ids(job).filter((id) => id !== first.attempt_id))
  expect(without.benchmark_outcomes?.map(({ average_score }) => average_score)).toEqual([null, 0.5])
  const scenario = { job_id: 'bmj_1', scenario_id: 't', attempt_id: null }
  expect(left(withoutExcluded(job, [scenario]))).toEqual([[3, 's 0', 's 1'], [1]])
  expect(left(withoutExcluded(job, [first, scenario]))).toEqual([[2, 's 1'], [1]])
})

it('keeps missing IDs missing', () => {
  const unnamed = {
    ...job,
    benchmark_outcomes: job.benchmark_outcomes?.map((each) => ({ ...each, benchmark_run_id: '' })),
  }
  const without = withoutExcluded(unnamed, [{ job_id: 'bmj_1', scenario_id: 's', attempt_id: 'bmj_1 run 1 s 2' }])
  expect(left(without)?.[0]).toEqual([3, 's 0', 't 1'])
  expect(without.benchmark_outcomes?.map(({ benchmark_run_id }) => benchmark_run_id)).toEqual(['', ''])
})

it('applies scenarios excluded in another job, but not its attempts', () => {
  expect(left(withoutExcluded(job, [{ job_id: 'bmj_2', scenario_id: 't', attempt_id: null }]))).toEqual([
    [3, 's 0', 's 1'],
    [1],
  ])
  expect(withoutExcluded(job, [{ job_id: 'bmj_2', scenario_id: 's', attempt_id: 'bmr_A s 1' }])).toBe(job)
  expect(withoutExcluded(job, [{ job_id: 'bmj_1', scenario_id: 'gone', attempt_id: null }])).toBe(job)
})
