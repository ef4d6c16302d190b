import type { ComparedPair, CompareReport } from '#lib/wire/reports.ts'
import { countOf, probabilityWords, settledWords, three } from '../job/verdict.ts'
import { sideNames } from './side-names.ts'

interface CompareSummary {
  lead: string
  more: readonly string[]
  tone: 'ok' | 'danger' | 'neutral'
}

/** What a comparison comes to in words; null where no side has a baseline. */
export const compareSummary = (report: CompareReport): CompareSummary | null => {
  const { pairs, complete } = report
  const [first] = pairs
  if (!first) return null
  const name = sideNames(report)
  const sentence = (pair: ComparedPair) => sideSentence(pair, name, pairs.length)
  const better = pairs.filter(({ settled, difference }) => settled && (difference ?? 0) > 0).length
  const worse = pairs.filter(({ settled, difference }) => settled && (difference ?? 0) < 0).length
  const open = pairs.length - better - worse
  const counts = `Of ${pairs.length} sides ${better} ${isOrAre(better)} better than the baseline and ${worse} ${isOrAre(worse)} worse; ${open} ${isOrAre(open)} not settled.`
  const largest = pairs.reduce((a, b) => (b.difference !== null && weightOf(b) > weightOf(a) ? b : a))
  const words = [counts, `The ${weightOf(largest) > 1 ? 'largest loss' : 'largest difference'}: ${sentence(largest)}`]
  const [lead = '', ...more] = pairs.length === 1 ? [sentence(first)] : words
  return {
    lead: complete ? lead : `So far: ${lead}`,
    more: [...more, changesSentence(pairs)],
    tone: worse > 0 ? 'danger' : better > 0 ? 'ok' : 'neutral',
  }
}

const isOrAre = (count: number) => (count === 1 ? 'is' : 'are')

/** Any loss weighs more than any gain. */
const weightOf = ({ difference }: ComparedPair): number =>
  difference === null ? -1 : difference < 0 ? 1 - difference : difference / (1 + difference)

const sideSentence = (pair: ComparedPair, name: ReturnType<typeof sideNames>, pairs: number): string => {
  const { a, b, difference, n, ci_low, ci_high, reasons } = pair
  if (difference === null)
    return `${name(a)} and ${name(b)} cannot be compared: ${reasons.difference ?? 'they share no scenario'}.`
  const stand =
    difference === 0
      ? `${name(a)} scores the same as ${name(b)}`
      : `${name(a)} is ${difference > 0 ? 'better' : 'worse'} than ${name(b)} by ${three(Math.abs(difference))}`
  const interval =
    ci_low === null || ci_high === null
      ? `no interval: ${reasons.ci_low ?? 'it cannot be computed'}`
      : `95 % interval of the difference ${three(ci_low)} to ${three(ci_high)}`
  const p = probabilityWords(pair, pairs > 1 ? `all ${pairs} sides` : null)
  return `${stand} (${interval}, paired over ${countOf(n, 'scenario')}${p}): ${settledWords(pair)}.`
}

const changesSentence = (pairs: readonly ComparedPair[]): string => {
  const sum = (of: (pair: ComparedPair) => number) => pairs.reduce((total, pair) => total + of(pair), 0)
  const compared = sum(({ n }) => n)
  const [failures, passes] = [sum((pair) => pair.new_failures.length), sum((pair) => pair.new_passes.length)]
  return `Of ${comparedWords(compared, pairs.length)}, ${failures.toLocaleString('en-US')} newly fail and ${passes.toLocaleString('en-US')} newly pass.`
}

/** How many scenarios are compared; each counts once for each side. */
export const comparedWords = (compared: number, sides: number): string =>
  sides === 1 ? countOf(compared, 'scenario') : `${countOf(compared, 'scenario')} compared over ${sides} sides`
