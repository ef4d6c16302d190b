import { describe, expect, it } from 'vitest'
import { hasScenarioRunEnded, scenarioRunRefusal, scenarioRunStates } from '#lib/contract/scenario-runs.ts'
import type { ScoringFunction } from '#lib/contract/scenarios.ts'
import { type FunctionResult, nextRunState, type ScenarioRunEvent, weightedScore } from './scenario-runs.ts'

const events = ['score', 'scored', 'interrupt', 'complete', 'cancel', 'fail', 'time_out'] as const

describe('the states of a scenario run', () => {
  it('have exactly these transitions', () => {
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
      for (const action of ['score', 'complete', 'cancel'] as const satisfies ScenarioRunEvent[])
        expect([state, action, scenarioRunRefusal(action, state) === null]).toEqual([
          state,
          action,
          nextRunState(state, action) !== undefined,
        ])
  })

  it('do not change once ended', () => {
    for (const state of scenarioRunStates.filter(hasScenarioRunEnded))
      expect(events.filter((event) => nextRunState(state, event))).toEqual([])
  })
})

describe('the weighted score', () => {
  const scoring = (parts: [name: string, weight: number, score: number][]) =>
    weightedScore(
      parts.map(([name, weight]): ScoringFunction => ({ name, weight, scorer: { type: 'command_scorer' } })),
      parts.map(
        ([scoring_function_name, , score]): FunctionResult => ({
          scoring_function_name,
          score,
          output: '',
          state: 'complete',
        }),
      ),
    )

  it.each([
    ['one function', [['a', 1, 0.25]], 0.25],
    [
      'halves',
      [
        ['a', 0.5, 1],
        ['b', 0.5, 0],
      ],
      0.5,
    ],
    [
      'unequal weights',
      [
        ['a', 0.75, 1],
        ['b', 0.25, 0.5],
      ],
      0.875,
    ],
    [
      'a weight of 0',
      [
        ['a', 0, 1],
        ['b', 1, 0.125],
      ],
      0.125,
    ],
    [
      'weights rounded up',
      [
        ['a', 0.3335, 1],
        ['b', 0.3335, 1],
        ['c', 0.3335, 1],
      ],
      1,
    ],
  ] as [string, [string, number, number][], number][])('of %s', (_, parts, expected) => {
    expect(scoring(parts)).toBe(expected)
  })
})
