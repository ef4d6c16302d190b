import { agentLabel, amount, countOf, stepOf, type TrendStep, threeDecimals } from '#lib/protocol/report-words.ts'
import type { ComparedPair, TrendPoint, TrendReport, Verdict } from '#lib/protocol/reports.ts'
import { evidence, metricSentence, testedPairs, unansweredSentence } from './job-verdict.ts'

const tones: Record<TrendStep, Verdict['tone']> = {
  first: 'neutral',
  regression: 'danger',
  possible: 'attention',
  better: 'ok',
  higher: 'neutral',
  lower: 'neutral',
  same: 'neutral',
  none: 'neutral',
}

type Figures = Pick<TrendReport, 'agent_name' | 'model_name' | 'points'> & { metric?: string | null }

export const trendVerdict = ({ agent_name, model_name, points, metric = null }: Figures): Verdict => {
  const name = agentLabel({ name: agent_name, model: model_name })
  const newest = points.findLast(({ figures }) => figures.mean !== null)
  if (!newest) return { lead: `${name} has no score on this data set yet.`, more: [], tone: 'neutral' }
  const { figures, job, complete, change } = newest
  const later = points.slice(points.indexOf(newest) + 1)
  const jobNames = new Map(points.map((point) => [point.job.id, point.job.name]))
  const score = `${name} scores ${threeDecimals(figures.mean ?? 0)} (n = ${figures.n_scenarios.toLocaleString('en-US')}) in ${job.name}${complete ? '' : ' so far'}`
  return {
    lead: change
      ? `${score}, ${changeText(change, testedPairs(points.flatMap((point) => point.change ?? [])))}`
      : `${score}; there is no earlier job to compare with.`,
    more: [
      ...unscoredSentence(later),
      ...regressionSentence(points),
      ...unansweredSentence(
        points.map((point) => point.figures),
        ({ job_id }) => jobNames.get(job_id) ?? job_id,
      ),
      ...metricSentence(metric),
    ],
    tone: later.length > 0 && stepOf(newest) === 'better' ? 'neutral' : tones[stepOf(newest)],
  }
}

const unscoredSentence = (later: readonly TrendPoint[]): string[] => {
  const [last] = later.slice(-1)
  if (!last) return []
  return [
    `${countOf(later.length, 'later run')} ${later.length === 1 ? 'has' : 'have'} no score, most recently in ${last.job.name}: ${last.figures.reasons.mean ?? 'no counted outcome'}.`,
  ]
}

const changeText = (change: ComparedPair, tested: number): string => {
  const { difference, reasons } = change
  if (difference === null)
    return `which can't be compared with the previous job: ${reasons.difference ?? 'no common scenario'}.`
  return difference === 0
    ? `the same as in the previous job ${evidence(change, tested)}`
    : `${amount(difference)} ${difference < 0 ? 'below' : 'above'} the previous job ${evidence(change, tested)}`
}

const regressionSentence = (points: readonly TrendPoint[]): string[] => {
  const count = (step: TrendStep) => points.filter((point) => stepOf(point) === step).length
  const compared = points.filter(({ change }) => change?.difference != null).length
  if (compared === 0) return []
  const changes = countOf(compared, 'change')
  const [significant, possible] = [count('regression'), count('possible')]
  if (significant + possible === 0) return [`No regression in ${changes}.`]
  return [
    `${changes}: ${countOf(significant, 'significant regression')}, ${possible.toLocaleString('en-US')} possible.`,
  ]
}

export const regressionOf = (change: ComparedPair | null): TrendPoint['regression'] => {
  if (change?.difference == null || change.difference >= 0) return null
  if (change.significant) return 'significant'
  // One changed scenario alone moves the mean by one standard error: half of all runs see that by chance.
  return change.se !== null && -change.difference > change.se * (1 + 1e-9) ? 'possible' : null
}
