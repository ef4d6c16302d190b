import { expect, it } from 'vitest'
import { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { missingWords, scoreWords } from './run-detail.tsx'

const listOf = (scores: unknown[], more: object = {}) =>
  readLeniently(ScenarioRunList, {
    runs: scores.map((score) => ({ state: 'completed', scoring_contract_result: score === null ? null : { score } })),
    ...more,
  })

it('says how the score of a run was computed only where the scenario runs come to it', () => {
  expect(scoreWords(0.5, listOf([1, 0.5, null]))).toBe('1.50 points over 3 scenario runs; 1 without a score counts 0.')
  expect(scoreWords(0.625, listOf([1, 0.25]), 'trials')).toBe('1.25 points over 2 trials.')
  expect(scoreWords(58.5, listOf([43.5, 73.5]), 'trials')).toBe('117.000 points over 2 trials.')
  expect(scoreWords(0.75, listOf([1, 0.5, null]))).toBe(
    'Computed otherwise: here are 1.50 points over 3 scenario runs, a mean of 0.50.',
  )
})

it('counts the planned trials that a run has ended without', () => {
  const run = (more: object) => readLeniently(BenchmarkRun, { state: 'completed', n_scenario_runs: 40, ...more })
  expect(missingWords(run({ n_total_trials: 64 }))).toBe(' 24 of 64 planned trials are missing.')
  expect(missingWords(run({ n_total_trials: 40 }))).toBe('')
  expect(missingWords(run({ n_total_trials: 64, state: 'running' }))).toBe('')
  expect(missingWords(run({}))).toBe('')
})

// It was said to be unknown points divided by all, whatever the score was.
it('takes a score that is no number for none', () => {
  expect(scoreWords(0.9, listOf([1, 'NaN']))).toMatch(/^Computed otherwise: here are 1\.00 points over 2 /)
})

it('claims nothing of scenario runs that are not listed', () => {
  expect(scoreWords(0.9, listOf([1, 0], { has_more: true, total_count: 8000 }))).toMatch(
    /^Not checked here, where only 2 of 8,000 scenario runs are listed/,
  )
})
