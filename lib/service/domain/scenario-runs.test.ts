import { describe, expect, it } from 'vitest'
import { scenarioRunRefusal, scenarioRunStates } from '#lib/contract/scenario-runs.ts'
import { nextRunState, weightedScore } from './scenario-runs.ts'

describe('the states of a scenario run', () => {
  it('have exactly these transitions', () => {
    const events = ['score', 'scored', 'interrupt', 'complete', 'cancel', 'fail', 'time_out'] as const
    const table = Object.fromEntries(
      scenarioRunStates.map((state) => [state, events.map((event) => nextRunState(state, event) ?? '-').join(' ')]),
    )
    expect(table).toEqual({
      running: 'scoring - - completed canceled failed timeout',
      scoring: '- scored running - canceled failed timeout',
      scored: 'scoring - - completed canceled failed timeout',
      completed: '- - - - - - -',
      canceled: '- - - - - - -',
      timeout: '- - - - - - -',
      failed: '- - - - - - -',
    })
  })

  it('allow exactly the actions that the contract does', () => {
    for (const state of scenarioRunStates)
      for (const action of ['score', 'complete', 'cancel'] as const) {
        const isAllowed = nextRunState(state, action) !== undefined
        expect([state, action, scenarioRunRefusal(action, state) === null]).toEqual([state, action, isAllowed])
      }
  })
})

const a = { name: 'a', weight: 0.75, score: 1 }
const rounded = ['a', 'b', 'c'].map((name) => ({ name, weight: 0.3335, score: 1 }))
it.each([
  ['unequal weights', [a, { name: 'b', weight: 0.25, score: 0.5 }], 0.875],
  [
    'a weight of 0',
    [
      { ...a, weight: 0 },
      { name: 'b', weight: 1, score: 0.125 },
    ],
    0.125,
  ],
  ['weights rounded up', rounded, 1],
])('weights the score of %s', (_, parts, expected) => {
  const functions = parts.map(({ name, weight }) => ({ name, weight, scorer: { type: 'command_scorer' as const } }))
  const results = parts.map(({ name, score }) => ({
    scoring_function_name: name,
    score,
    output: '',
    state: 'complete',
  }))
  expect(weightedScore(functions, results)).toBe(expected)
})
