import { expect, it } from 'vitest'
import { fromZeroToOne, lastScore, numberInLastLine } from './scorer.ts'

it.each([
  ['building\nscore=0.25\ndone\n', '0.25'],
  ['score=0\nscore=1\n', '1'],
  ['final score=1.0 of 1', '1.0'],
  ['score=.5', '.5'],
  ['score=1e-3\r\n', '1e-3'],
  ['score=0.5\nscore=high', '0.5'],
  ['', undefined],
  ['score 1', undefined],
  ['highscore=1', undefined],
  ['score=1/2', undefined],
  ['score=0x1', undefined],
  [`score=${'1'.repeat(65)}`, undefined],
])('the last score in %j is %s', (text, expected) => {
  expect(lastScore(text)).toBe(expected)
})

it.each([
  ['loading\n 0.75 \n\n', '0.75'],
  ['0.5\n0.6', '0.6'],
  ['', undefined],
  ['0.5\ndone', undefined],
  ['1 2', undefined],
])('the number in the last line of %j is %s', (text, expected) => {
  expect(numberInLastLine(text)).toBe(expected)
})

// A backtracking pattern would take hours.
it('finds scores in linear time', () => {
  for (const unit of ['\n', '1', 'score=', 'score=1', ' ', 'score=1.'])
    for (const find of [lastScore, numberInLastLine]) find(unit.repeat(2 ** 20 / unit.length))
})

it('accepts scores from 0 to 1', () => {
  for (const text of ['0', '1.0', '1e-400', '-0']) expect(fromZeroToOne(text, '')).toBe(Number(text))
  for (const text of ['1.0001', '-0.1', '1e999'])
    expect(() => fromZeroToOne(text, '')).toThrow(`The score ${text} is not between 0 and 1`)
})
