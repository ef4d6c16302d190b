import { formatCount } from '#lib/console/frame/format.ts'
import type { ComparedPair, TrendPoint, TrendReport } from '#lib/wire/reports.ts'
import { probabilityWords, three } from '../job/verdict.ts'
import { agentLabel } from '../job-figures.ts'

export type TrendStep = 'first' | 'regression' | 'possible' | 'better' | 'higher' | 'same' | 'none'

/** What became of an agent since the job before; `none` where that cannot be said. */
export const stepOf = ({ change, regression, figures }: TrendPoint): TrendStep => {
  if (regression) return regression === 'settled' ? 'regression' : 'possible'
  if (!change) return figures.mean === null ? 'none' : 'first'
  if (change.difference === null) return 'none'
  if (change.difference === 0) return 'same'
  return change.settled ? 'better' : 'higher'
}

export interface TrendSummary {
  lead: string
  more: string
  tone: 'ok' | 'attention' | 'danger' | 'neutral'
}

const tones: Record<TrendStep, TrendSummary['tone']> = {
  first: 'neutral',
  regression: 'danger',
  possible: 'attention',
  better: 'ok',
  higher: 'neutral',
  same: 'neutral',
  none: 'neutral',
}

/** Where an agent stands now and how it came there, in words. */
export const trendSummary = (report: TrendReport): TrendSummary => {
  const name = agentLabel({ name: report.agent_name, model: report.model_name })
  const newest = report.points.findLast(({ figures }) => figures.mean !== null)
  if (!newest) return { lead: `${name} has no score on this data set yet.`, more: '', tone: 'neutral' }
  const { figures, job, complete } = newest
  const soFar = complete ? '' : ' so far'
  const stands = `${name} scores ${three(figures.mean ?? 0)} (n = ${formatCount(figures.n_scenarios)}) in ${job.name}${soFar}`
  return {
    lead: newest.change
      ? `${stands}, ${changeWords(newest.change, report.points.filter(({ change }) => change?.p_value != null).length)}.`
      : `${stands}; there is no job before it to compare with.`,
    more: regressionWords(report.points),
    tone: tones[stepOf(newest)],
  }
}

const changeWords = (change: ComparedPair, changes: number): string => {
  const { difference, n, ci_low, ci_high, settled, reasons } = change
  if (difference === null)
    return `which cannot be compared with the job before: ${reasons.difference ?? 'they share no scenario'}`
  const over = `paired over ${formatCount(n)} ${n === 1 ? 'scenario' : 'scenarios'}`
  const interval =
    ci_low === null || ci_high === null ? 'no interval' : `95 % interval ${three(ci_low)} to ${three(ci_high)}`
  const stand =
    difference === 0
      ? 'as in the job before'
      : `${three(Math.abs(difference))} ${difference < 0 ? 'below' : 'above'} the job before`
  const p = probabilityWords(change, changes > 1 ? `all ${formatCount(changes)} changes` : null)
  return `${stand} (${interval}, ${over}${p}): ${settled ? 'settled' : 'not settled'}`
}

const regressionWords = (points: readonly TrendPoint[]): string => {
  const of = (step: TrendStep) => points.filter((point) => stepOf(point) === step).length
  const compared = points.filter(({ change }) => change?.difference != null).length
  if (compared === 0) return ''
  const changes = `${formatCount(compared)} ${compared === 1 ? 'change' : 'changes'}`
  const [settled, possible] = [of('regression'), of('possible')]
  if (settled + possible === 0) return `No regression in ${changes}.`
  return `In ${changes}: ${formatCount(settled)} settled ${settled === 1 ? 'regression' : 'regressions'}, ${formatCount(possible)} possible.`
}
