import { amount, comparedScenarios, type NameOf, runNames, sameAgentJob } from '#lib/protocol/report-words.ts'
import type { ComparedPair, CompareReport, Verdict } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { controlsSentence, evidence, metricSentence, testedPairs, unansweredSentence } from './job-verdict.ts'

type Figures = Pick<CompareReport, 'jobs' | 'agents' | 'complete' | 'pairs'> & { metric?: string | null }

export const compareVerdict = (report: Figures): Verdict | null => {
  const { complete, agents } = report
  // Controls are only compared if there is nothing else.
  const candidates = report.pairs.filter(({ a, b }) => !isControl(a.agent_name) && !isControl(b.agent_name))
  const pairs = candidates.length > 0 ? candidates : report.pairs
  const [first] = pairs
  if (!first) return null
  const others = report.pairs
    .filter((pair) => !pairs.includes(pair))
    .flatMap(({ a, b }) => [a.agent_name, b.agent_name])
  const name = runNames(report)
  const baselineJob = sameAgentJob(report)
  const tested = testedPairs(report.pairs)
  const sentence = (pair: ComparedPair) => runSentence(pair, name, baselineJob(pair), tested)
  const better = pairs.filter(({ significant, difference }) => significant && (difference ?? 0) > 0).length
  const worse = pairs.filter(({ significant, difference }) => significant && (difference ?? 0) < 0).length
  const unanswered = unansweredSentence(agents, name)
  const largest = pairs.reduce((a, b) => (ranksBefore(b, a) ? b : a))
  const soFar = complete ? '' : 'So far: '
  const summary =
    better + worse === 0
      ? `None of ${pairs.length} runs differs significantly from the baseline.`
      : `Of ${pairs.length} runs, ${better} significantly better than the baseline, ${worse} significantly worse, ${pairs.length - better - worse} not significant.`
  const [lead = '', ...more] =
    pairs.length === 1
      ? [soFar + sentence(first)]
      : largest.difference === null
        ? [`${soFar}None of ${pairs.length} runs can be compared with the baseline.`, sentence(first)]
        : [soFar + summary, `Largest ${kindOf(largest)}: ${sentence(largest)}`]
  return {
    lead,
    more: [
      ...more,
      ...unanswered,
      ...controlsSentence([...new Set(others.filter(isControl))]),
      ...changesSentence(pairs),
      ...metricSentence(report.metric ?? null),
    ],
    tone: worse > 0 ? 'danger' : unanswered.length > 0 ? 'attention' : better > 0 ? 'ok' : 'neutral',
  }
}

/** Significant losses first, then significant gains, then by size. */
const ranksBefore = (a: ComparedPair, b: ComparedPair): boolean => {
  const weight = ({ significant, difference }: ComparedPair) => (significant ? ((difference ?? 0) < 0 ? 2 : 1) : 0)
  const size = ({ difference }: ComparedPair) => (difference === null ? -1 : Math.abs(difference))
  return weight(a) > weight(b) || (weight(a) === weight(b) && size(a) > size(b))
}

const kindOf = ({ significant, difference }: ComparedPair): string =>
  significant ? ((difference ?? 0) < 0 ? 'loss' : 'gain') : 'difference'

const runSentence = (pair: ComparedPair, name: NameOf, baselineJob: string | undefined, tested: number): string => {
  const { a, b, difference, reasons } = pair
  if (difference === null)
    return `${name(a)} and ${name(b)} can't be compared: ${reasons.difference ?? 'no common scenario'}.`
  const baseline = baselineJob === undefined ? name(b) : `in ${baselineJob}`
  return difference === 0
    ? `${name(a)} scores the same as ${baseline} ${evidence(pair, tested)}`
    : `${name(a)} scores ${amount(difference)} ${difference > 0 ? 'higher' : 'lower'} than ${baseline} ${evidence(pair, tested)}`
}

const changesSentence = (pairs: readonly ComparedPair[]): string[] => {
  const sum = (of: (pair: ComparedPair) => number) => pairs.reduce((total, pair) => total + of(pair), 0)
  const compared = sum(({ n }) => n)
  if (compared === 0) return []
  const [worse, better] = [sum((pair) => pair.worse.length), sum((pair) => pair.better.length)]
  const hasPasses = pairs.every(({ new_passes }) => new_passes !== null)
  const format = (count: number) => count.toLocaleString('en-US')
  const newly = (kind: 'new_failures' | 'new_passes', word: string) =>
    hasPasses ? ` (${format(sum((pair) => (pair[kind] ?? []).length))} newly ${word})` : ''
  return [
    `Of ${comparedScenarios(compared, pairs.length)}, ${format(worse)} scored worse${newly('new_failures', 'failing')}, ${format(better)} better${newly('new_passes', 'passing')} and ${format(compared - worse - better)} the same.`,
  ]
}
