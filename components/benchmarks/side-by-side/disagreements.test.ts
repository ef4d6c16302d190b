import { expect, it } from 'vitest'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { disagreementsOf } from './disagreements.ts'
import { parseSide, sideText } from './search-params.ts'

const attempts = (scenario: string, ...scores: (number | 'E' | 'C')[]): ScenarioOutcome[] =>
  scores.map((score) => ({
    scenario_definition_id: scenario,
    scenario_name: scenario,
    state: score === 'E' ? 'FAILED' : score === 'C' ? 'CANCELED' : 'COMPLETED',
    score: typeof score === 'number' ? score : null,
  }))

const listed = (a: ScenarioOutcome[], b: ScenarioOutcome[], rule: 'zero' | 'leave_out' = 'zero') =>
  disagreementsOf(a, b, { rule, threshold: 1, lower_is_better: false }).map(({ name, a, b, onlyOnePasses, gap }) => [
    name,
    a,
    b,
    onlyOnePasses,
    gap,
  ])

it('orders scenarios that only one passes before differences in score, and names the attempts', () => {
  const a = [
    ...attempts('t-10', 1),
    ...attempts('t-2', 1),
    ...attempts('even', 1, 0),
    ...attempts('low', 0.2),
    ...attempts('void', 'C'),
  ]
  const b = [
    ...attempts('t-10', 0),
    ...attempts('t-2', 'E'),
    ...attempts('even', 0, 1),
    ...attempts('low', 0.25, 0.75),
    ...attempts('void', 1),
  ]
  expect(listed(a, b)).toEqual([
    ['t-2', 1, 1, true, 1],
    ['t-10', 1, 1, true, 1],
    ['low', 1, 2, false, 0.3],
  ])
  expect(listed(a, b, 'leave_out').map(([name]) => name)).toEqual(['t-10', 'low'])
})

it('compares an agent with itself by its best and worst attempt', () => {
  const own = [...attempts('flaky', 0, 1, 1), ...attempts('steady', 1, 1), ...attempts('once', 0)]
  expect(listed(own, own)).toEqual([['flaky', 2, 1, true, 1]])
})

it('ignores excluded attempts, but keeps the numbers of the others', () => {
  const [a, b] = [attempts('t', 0, 1), attempts('t', 0)]
  const listedWith = (isExcluded: (outcome: ScenarioOutcome) => boolean) =>
    disagreementsOf(a, b, {
      rule: 'zero',
      threshold: 1,
      lower_is_better: false,
      isExcluded,
    }).map(({ a, gap }) => [a, gap])
  expect(listedWith((outcome) => outcome === a[0])).toEqual([[2, 1]])
  expect(listedWith((outcome) => outcome === b[0])).toEqual([])
})

it('restores a side from the address', () => {
  const sides = [
    { job: 'bmj_1', run: 'bmr_1', attempt: 3 },
    { job: 'bmj_1', run: 'bmj_1 run 2', attempt: undefined },
  ]
  expect(sides.map(sideText)).toEqual(['bmj_1:bmr_1:3', 'bmj_1:bmj_1 run 2'])
  expect(sides.map((side) => parseSide(sideText(side)))).toEqual(sides)
  expect(parseSide('bmj_1')).toBeNull()
})
