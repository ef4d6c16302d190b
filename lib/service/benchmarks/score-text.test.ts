import { describe, expect, it } from 'vitest'
import { fromZeroToOne, lastScore, numberInLastLine } from './scorer.ts'

describe('the last score in an output', () => {
  it.each([
    ['score=0.5', '0.5'],
    ['building\nscore=0.25\ndone\n', '0.25'],
    ['score=0\nscore=1\n', '1'],
    ['final score=1.0 of 1', '1.0'],
    ['score=.5', '.5'],
    ['score=1e-3\r\n', '1e-3'],
    ['score=1.5', '1.5'],
    ['score=0.5\nscore=high', '0.5'],
  ])('%j is %s', (text, expected) => {
    expect(lastScore(text)).toBe(expected)
  })

  it.each(['', 'score 1', 'highscore=1', 'score=', 'score=1/2', 'score=0,5', 'score=0x1', `score=${'1'.repeat(65)}`])(
    'is none in %j',
    (text) => {
      expect(lastScore(text)).toBeUndefined()
    },
  )

  // A backtracking pattern would take hours.
  it('is found in linear time', () => {
    for (const unit of ['\n', '1', 'score=', 'score=1', ' ', 'score=1.'])
      for (const find of [lastScore, numberInLastLine]) find(unit.repeat(2 ** 20 / unit.length))
  })
})

describe('the number in the last line', () => {
  it.each([
    ['1', '1'],
    ['loading\n 0.75 \n\n', '0.75'],
    ['0.5\n0.6', '0.6'],
  ])('of %j is %s', (text, expected) => {
    expect(numberInLastLine(text)).toBe(expected)
  })

  it.each(['', '0.5\ndone', 'score=0.5', '1 2'])('is none in %j', (text) => {
    expect(numberInLastLine(text)).toBeUndefined()
  })
})

describe('a score', () => {
  it.each(['0', '1', '1.0', '1e-400', '-0'])('may be %s', (text) => {
    expect(fromZeroToOne(text, '')).toBe(Number(text))
  })

  it.each(['1.0001', '-0.1', '1e999'])('may not be %s', (text) => {
    expect(() => fromZeroToOne(text, '')).toThrow(`The score ${text} is not between 0 and 1`)
  })
})
