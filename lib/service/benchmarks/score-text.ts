import { ScorerError } from './scorer.ts'

/** The agent decides what the output is, so a pattern is matched against a short text only. */
const maxNumberLength = 64
const number = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
const scoreWord = /(?<!\S)score=(\S{1,64})(?!\S)/g

/** What the last `score=<number>` in a text says, or undefined without one. */
export const lastScore = (text: string): string | undefined =>
  [...text.matchAll(scoreWord)].map(([, value = '']) => value).findLast((value) => number.test(value))

/** The number that is the last line, or undefined when that line is something else. */
export const numberInLastLine = (text: string): string | undefined => {
  const trimmed = text.trimEnd()
  const line = trimmed.slice(trimmed.lastIndexOf('\n') + 1).trim()
  return line.length <= maxNumberLength && number.test(line) ? line : undefined
}

/** Throws a ScorerError for any other number. */
export const fromZeroToOne = (text: string, output: string): number => {
  const value = Number(text)
  if (!(value >= 0 && value <= 1)) throw new ScorerError(`Its score is ${text}, which is not from 0 to 1`, output)
  return value
}
