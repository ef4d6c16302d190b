import { agentLabel, byAmount, countOf, stepOf, type TrendStep, three } from '#lib/protocol/report-words.ts'
import type { ComparedPair, TrendPoint, TrendReport, Verdict } from '#lib/protocol/reports.ts'
import { allOf, metricSentence, probabilityWords, testedOf, unansweredSentence } from './job-verdict.ts'

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

/** Where an agent stands now and how it came there, in words. */
export const trendVerdict = (report: Figures): Verdict => {
  const name = agentLabel({ name: report.agent_name, model: report.model_name })
  const newest = report.points.findLast(({ figures }) => figures.mean !== null)
  if (!newest) return { lead: `${name} has no score on this data set yet.`, more: [], tone: 'neutral' }
  const { figures, job, complete } = newest
  const soFar = complete ? '' : ' so far'
  const later = report.points.slice(report.points.indexOf(newest) + 1)
  const jobNames = new Map(report.points.map((point) => [point.job.id, point.job.name]))
  const unanswered = unansweredSentence(
    report.points.map((point) => point.figures),
    ({ job_id }) => jobNames.get(job_id) ?? job_id,
  )
  const stands = `${name} scores ${three(figures.mean ?? 0)} (n = ${figures.n_scenarios.toLocaleString('en-US')}) in ${job.name}${soFar}`
  return {
    lead: newest.change
      ? `${stands}, ${changeWords(newest.change, testedOf(report.points.flatMap(({ change }) => change ?? [])))}.`
      : `${stands}; there is no job before it to compare with.`,
    more: [
      ...unscoredWords(later),
      ...regressionWords(report.points),
      ...unanswered,
      ...metricSentence(report.metric ?? null),
    ],
    tone: later.length > 0 && stepOf(newest) === 'better' ? 'neutral' : tones[stepOf(newest)],
  }
}

/** Jobs that came after the newest one with a score. */
const unscoredWords = (later: readonly TrendPoint[]): string[] => {
  const [last] = later.slice(-1)
  if (!last) return []
  return [
    `${countOf(later.length, 'run')} after it ${later.length === 1 ? 'has' : 'have'} no score, the last in ${last.job.name}: ${last.figures.reasons.mean ?? 'none of its outcomes counts'}.`,
  ]
}

const changeWords = (change: ComparedPair, changes: number): string => {
  const { difference, n, ci_low, ci_high, reasons } = change
  if (difference === null)
    return `which cannot be compared with the job before: ${reasons.difference ?? 'they share no scenario'}`
  const over = `paired over ${countOf(n, 'scenario')}`
  const interval =
    ci_low === null || ci_high === null ? 'no interval' : `95 % interval ${three(ci_low)} to ${three(ci_high)}`
  const stand =
    difference === 0
      ? 'as in the job before'
      : `${byAmount(difference)} ${difference < 0 ? 'below' : 'above'} the job before`
  const p = probabilityWords(change, changes > 1 ? allOf(changes, 'changes') : null)
  return `${stand} (${interval}, ${over}${p})${difference === 0 ? '' : change.settled ? ': settled' : ': not settled'}`
}

const regressionWords = (points: readonly TrendPoint[]): string[] => {
  const of = (step: TrendStep) => points.filter((point) => stepOf(point) === step).length
  const compared = points.filter(({ change }) => change?.difference != null).length
  if (compared === 0) return []
  const changes = countOf(compared, 'change')
  const [settled, possible] = [of('regression'), of('possible')]
  if (settled + possible === 0) return [`No regression in ${changes}.`]
  return [`In ${changes}: ${countOf(settled, 'settled regression')}, ${possible.toLocaleString('en-US')} possible.`]
}

export const regressionOf = (change: ComparedPair | null): TrendPoint['regression'] => {
  if (change?.difference == null || change.difference >= 0) return null
  if (change.settled) return 'settled'
  // One scenario that changed has a difference of its standard error: half of all runs have one by chance.
  return change.se !== null && -change.difference > change.se * (1 + 1e-9) ? 'possible' : null
}
