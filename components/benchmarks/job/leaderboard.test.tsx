import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { BenchmarkOutcome } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { ReportedMean } from './leaderboard.tsx'

const textOf = (reported: object): string => {
  const outcome = readLeniently(BenchmarkOutcome, reported)
  return renderToStaticMarkup(<ReportedMean agent={{ outcome }} why="no counted attempt" />).replace(/<[^>]*>/g, '')
}

it('shows a mean that the service reports without attempts', () => {
  const counts = { n_completed: 7, n_failed: 3 }
  expect(textOf({ average_score: 0.6, ...counts })).toBe('0.600 (n = 7 of 10, as reported)')
  expect(textOf(counts)).toBe('None')
  expect(textOf({ average_score: 0.6, ...counts, scenario_outcomes: [{ state: 'FAILED' }] })).toBe('None')
})
