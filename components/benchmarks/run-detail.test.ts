import { expect, it } from 'vitest'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ScenarioRunList } from '#lib/contract/scenario-runs.ts'
import { scoreWords } from './run-detail.tsx'

const listOf = (scores: unknown[], more: object = {}) =>
  readLeniently(ScenarioRunList, {
    runs: scores.map((score) => ({ state: 'completed', scoring_contract_result: score === null ? null : { score } })),
    ...more,
  })

it('says how the score of a run was computed only where the scenario runs come to it', () => {
  expect(scoreWords(0.5, listOf([1, 0.5, null]))).toBe(
    '1.50 points of 2 completed, divided by all 3 scenario runs: the other 1 count 0.',
  )
  expect(scoreWords(0.75, listOf([1, 0.5, null]))).toBe(
    'The service does not tell how it was computed: its 3 scenario runs have 1.50 points of 2 completed, which is 0.50 over all of them.',
  )
})

// It was said to be unknown points divided by all, whatever the score was.
it('takes a score that is no number for none', () => {
  expect(scoreWords(0.9, listOf([1, 'NaN']))).toMatch(/does not tell .* have 1\.00 points of 1 completed/)
})

it('claims nothing of scenario runs that are not listed', () => {
  expect(scoreWords(0.9, listOf([1, 0], { has_more: true, total_count: 8000 }))).toMatch(
    /^Not checked here, where only 2 of 8,000 scenario runs are listed/,
  )
})
