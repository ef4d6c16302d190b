import { expect, it } from 'vitest'
import { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { missingTrialsText, scoreExplanation } from './run-overview.tsx'

const listOf = (scores: unknown[], more: object = {}) =>
  readLeniently(ScenarioRunList, {
    runs: scores.map((score) => ({ state: 'completed', scoring_contract_result: score === null ? null : { score } })),
    ...more,
  })

it('explains a score that matches the scenario runs', () => {
  expect(scoreExplanation(0.5, listOf([1, 0.5, null]))).toBe(
    '1.50 points over 3 scenario runs; 1 without a score counts as 0.',
  )
  expect(scoreExplanation(0.625, listOf([1, 0.25]), 'trials')).toBe('1.25 points over 2 trials.')
  expect(scoreExplanation(58.5, listOf([43.5, 73.5]), 'trials')).toBe('117.000 points over 2 trials.')
  expect(scoreExplanation(0.9, listOf([1, 'NaN']))).toMatch(
    /^Computed differently by the service: 1\.00 points over 2 /,
  )
  expect(scoreExplanation(0.75, listOf([1, 0.5, null]))).toBe(
    'Computed differently by the service: 1.50 points over 3 scenario runs, mean 0.50.',
  )
})

it('counts missing trials of a finished run', () => {
  const run = (more: object) => readLeniently(BenchmarkRun, { state: 'completed', n_scenario_runs: 40, ...more })
  expect(missingTrialsText(run({ n_total_trials: 64 }))).toBe(' 24 of 64 planned trials are missing.')
  expect(missingTrialsText(run({ n_total_trials: 40 }))).toBe('')
  expect(missingTrialsText(run({ n_total_trials: 64, state: 'running' }))).toBe('')
  expect(missingTrialsText(run({}))).toBe('')
})

it('does not verify a partial list', () => {
  expect(scoreExplanation(0.9, listOf([1, 0], { has_more: true, total_count: 8000 }))).toMatch(
    /^Not verified: only 2 of 8,000 scenario runs are listed/,
  )
})
