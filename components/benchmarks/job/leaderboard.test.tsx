import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { BenchmarkOutcome } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ToldMean } from './leaderboard.tsx'

const wordsOf = (told: object): string => {
  const outcome = readLeniently(BenchmarkOutcome, told)
  return renderToStaticMarkup(<ToldMean agent={{ outcome }} why="no attempt counts" />).replace(/<[^>]*>/g, '')
}

it('shows the mean that a service reports without attempts, as the list of jobs does', () => {
  const counts = { n_completed: 7, n_failed: 3 }
  expect(wordsOf({ average_score: 0.6, ...counts })).toBe('0.600 (n = 7 of 10, as reported)')
  expect(wordsOf(counts)).toBe('None')
  // Attempts that are reported are counted.
  expect(wordsOf({ average_score: 0.6, ...counts, scenario_outcomes: [{ state: 'FAILED' }] })).toBe('None')
})
