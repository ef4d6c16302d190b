import { expect, it } from 'vitest'
import type { ScenarioRunState } from '#lib/contract/scenario-runs.ts'
import { runScore } from './benchmark-runs.ts'

const run = (state: ScenarioRunState, score: number | null = null, replaced = false) => ({ state, score, replaced })

it.each([
  [
    'the sum of completed scores over all',
    [run('completed', 1), run('completed', 0.5), run('failed'), run('timeout')],
    0.375,
  ],
  ['not rounded', [run('completed', 1), run('completed', 0), run('completed', 0)], 1 / 3],
  ['0 for completed runs without a score', [run('completed', 1), run('completed')], 0.5],
  [
    '0 for scores of uncompleted runs',
    [run('completed', 1), run('canceled', 1), run('failed', 0.5), run('timeout', 1)],
    0.25,
  ],
  ['without replaced runs', [run('failed', null, true), run('completed', 0.5)], 0.5],
  ['null without runs', [run('failed', null, true)], null],
])('the score of a benchmark run is %s', (_, runs, expected) => {
  expect(runScore(runs)).toBe(expected)
})
