import { byAmount, comparedWords, countOf, type NameOf, sameElsewhere, sideNames } from '#lib/protocol/report-words.ts'
import type { ComparedPair, CompareReport, Verdict } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import {
  allOf,
  controlsSentence,
  intervalWords,
  metricSentence,
  probabilityWords,
  settledWords,
  testedOf,
  unansweredSentence,
} from './job-verdict.ts'

type Figures = Pick<CompareReport, 'jobs' | 'agents' | 'complete' | 'pairs'> & { metric?: string | null }

/** What a comparison comes to in words; null where no side has a baseline. */
export const compareVerdict = (report: Figures): Verdict | null => {
  const { complete, agents } = report
  // How the solution that comes with the tasks does is not asked, unless nothing else is compared.
  const judged = report.pairs.filter(({ a, b }) => !isControl(a.agent_name) && !isControl(b.agent_name))
  const pairs = judged.length > 0 ? judged : report.pairs
  const [first] = pairs
  if (!first) return null
  const left = report.pairs.filter((pair) => !pairs.includes(pair)).flatMap(({ a, b }) => [a.agent_name, b.agent_name])
  const controls = [...new Set(left.filter(isControl))]
  const name = sideNames(report)
  const isElsewhere = sameElsewhere(report)
  // That of the others is adjusted for being beside them all the same.
  const tested = testedOf(report.pairs)
  const sentence = (pair: ComparedPair) => sideSentence(pair, name, isElsewhere(pair), tested)
  const better = pairs.filter(({ settled, difference }) => settled && (difference ?? 0) > 0).length
  const worse = pairs.filter(({ settled, difference }) => settled && (difference ?? 0) < 0).length
  const open = pairs.length - better - worse
  const of = `${complete ? 'Of' : 'So far: of'} ${pairs.length} sides`
  const unanswered = unansweredSentence(agents, name)
  const counts =
    better + worse === 0
      ? `${of} none is settled to be better or worse than the baseline.`
      : `${of} ${better} ${isOrAre(better)} better than the baseline and ${worse} ${isOrAre(worse)} worse; ${open} ${isOrAre(open)} not settled.`
  const foremost = pairs.reduce((a, b) => (isBefore(b, a) ? b : a))
  const words =
    foremost.difference === null
      ? [
          `${complete ? 'None' : 'So far: none'} of ${pairs.length} sides can be compared with the baseline.`,
          sentence(first),
        ]
      : [counts, `The largest ${sizeWord(foremost)}: ${sentence(foremost)}`]
  const [lead = '', ...more] = pairs.length === 1 ? [`${complete ? '' : 'So far: '}${sentence(first)}`] : words
  return {
    lead,
    more: [
      ...more,
      ...unanswered,
      ...controlsSentence(controls, 'not counted'),
      ...changesSentence(pairs),
      ...metricSentence(report.metric ?? null),
    ],
    tone: worse > 0 ? 'danger' : unanswered.length > 0 ? 'attention' : better > 0 ? 'ok' : 'neutral',
  }
}

const isOrAre = (count: number) => (count === 1 ? 'is' : 'are')

/** What is settled goes before what may be chance, and of that a loss before any gain; then the larger one. */
const isBefore = (a: ComparedPair, b: ComparedPair): boolean => {
  const weight = ({ settled, difference }: ComparedPair) => (settled ? ((difference ?? 0) < 0 ? 2 : 1) : 0)
  const size = ({ difference }: ComparedPair) => (difference === null ? -1 : Math.abs(difference))
  return weight(a) > weight(b) || (weight(a) === weight(b) && size(a) > size(b))
}

const sizeWord = ({ settled, difference }: ComparedPair): string =>
  settled ? ((difference ?? 0) < 0 ? 'loss' : 'gain') : 'difference'

const sideSentence = (pair: ComparedPair, name: NameOf, elsewhere: string | undefined, tested: number): string => {
  const { a, b, difference, n, reasons } = pair
  const baseline = elsewhere === undefined ? name(b) : `in ${elsewhere}`
  if (difference === null)
    return `${name(a)} and ${name(b)} cannot be compared: ${reasons.difference ?? 'they share no scenario'}.`
  const stand =
    difference === 0
      ? `${name(a)} scores the same as ${baseline}`
      : `${name(a)} is ${difference > 0 ? 'better' : 'worse'} than ${baseline} by ${byAmount(difference)}`
  const p = probabilityWords(pair, tested > 1 ? allOf(tested, 'sides') : null)
  return `${stand} (${intervalWords(pair, ' of the difference')}, paired over ${countOf(n, 'scenario')}${p})${difference === 0 ? '' : `: ${settledWords(pair)}`}.`
}

/** Each scenario once for each side: as worse, as better or as neither. */
const changesSentence = (pairs: readonly ComparedPair[]): string[] => {
  const sum = (of: (pair: ComparedPair) => number) => pairs.reduce((total, pair) => total + of(pair), 0)
  const compared = sum(({ n }) => n)
  if (compared === 0) return []
  const [worse, better] = [sum((pair) => pair.worse.length), sum((pair) => pair.better.length)]
  const hasPasses = pairs.every(({ new_passes }) => new_passes !== null)
  const newly = (kind: 'new_failures' | 'new_passes', word: string) =>
    hasPasses ? ` (${shown(sum((pair) => (pair[kind] ?? []).length))} newly ${word})` : ''
  const shown = (count: number) => count.toLocaleString('en-US')
  return [
    `Of ${comparedWords(compared, pairs.length)}, ${shown(worse)} scored worse${newly('new_failures', 'failing')}, ${shown(better)} better${newly('new_passes', 'passing')} and ${shown(compared - worse - better)} the same.`,
  ]
}
