import { ScorerError } from './scorer.ts'

/** The agent controls the output, so patterns only match short text. */
const maxNumberLength = 64
const number = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
const scoreWord = /(?<!\S)score=(\S{1,64})(?!\S)/g

export const lastScore = (text: string): string | undefined =>
  [...text.matchAll(scoreWord)].map(([, value = '']) => value).findLast((value) => number.test(value))

export const numberInLastLine = (text: string): string | undefined => {
  const trimmed = text.trimEnd()
  const line = trimmed.slice(trimmed.lastIndexOf('\n') + 1).trim()
  return line.length <= maxNumberLength && number.test(line) ? line : undefined
}

export const fromZeroToOne = (text: string, output: string): number => {
  const value = Number(text)
  if (!(value >= 0 && value <= 1)) throw new ScorerError(`The score ${text} is not between 0 and 1`, output)
  return value
}
