import { expect, it } from 'vitest'
import { chanceOf, flakyScenarios, type Repeats } from './flaky.ts'

const repeats = (n: number, passed: number): Repeats => ({ n, passed })
const [both, never, always] = [repeats(2, 1), repeats(2, 0), repeats(2, 2)]

const flakyAt = (names: string[], cells: Repeats[][]): number[] =>
  flakyScenarios(names, cells).flatMap((isFlaky, at) => (isFlaky ? [at] : []))

it('computes the Poisson-binomial tail', () => {
  expect(chanceOf(0, [0.1, 0.2])).toBeCloseTo(1, 12)
  expect(chanceOf(1, [0.1, 0.2])).toBeCloseTo(0.28, 12)
  expect(chanceOf(2, [0.1, 0.2])).toBeCloseTo(0.02, 12)
})

it('finds none among mid-range agents whose attempts vary by chance', () => {
  const cells = Array.from({ length: 16 }, (_, i) => [1, 2, 4].map((bit) => (i & bit ? both : never)))
  expect(flakyAt(['a', 'b', 'c'], cells)).toEqual([])
})

it('finds the one scenario where every agent both passes and fails', () => {
  const cells = Array.from({ length: 20 }, (_, i) => (i === 7 ? [both, both, both] : [always, never, always]))
  // 0.05 cubed, times 20.
  expect(flakyAt(['a', 'b', 'c'], cells)).toEqual([7])
  expect(
    flakyAt(
      ['a', 'b', 'c'],
      cells.map((row, i) => (i === 7 ? [both, both, never] : row)),
    ),
  ).toEqual([])
})

it('needs more than one agent, unless it is a control', () => {
  const cells = Array.from({ length: 40 }, (_, i) => [i === 3 ? both : always])
  expect(flakyAt(['a'], cells)).toEqual([])
  expect(flakyAt(['oracle'], cells)).toEqual([3])
  expect(flakyAt(['nop'], cells)).toEqual([3])
})

it('ignores single attempts', () => {
  expect(flakyAt(['oracle', 'a'], [[repeats(1, 1), repeats(0, 0)]])).toEqual([])
})
