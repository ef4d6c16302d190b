import { countOf, passRule, truncate } from '#lib/protocol/report-words.ts'
import type { FailureRule, Report } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { testedPairs } from './job-verdict.ts'

const rules: Record<FailureRule, string> = {
  zero: 'Failures, timeouts and completed attempts without a score count as 0.',
  leave_out: 'Failures and timeouts, including scored ones, are excluded from the means.',
}

type Figures = Pick<Report, 'rule' | 'complete' | 'metric' | 'is_unit_range' | 'threshold' | 'agents' | 'pairs'>

export const notesOf = ({ rule, complete, metric, agents, pairs, ...scale }: Figures): string[] => {
  const cancelled = agents.reduce((sum, { n_cancelled }) => sum + n_cancelled, 0)
  const unknown = agents.reduce((sum, { n_other }) => sum + n_other, 0)
  const notes = [
    ...(complete ? [] : ['Incomplete: more outcomes may arrive, and all figures are preliminary.']),
    ...(metric === null ? [] : [`Metric: ${truncate(metric)}.`]),
    rules[rule],
    `Canceled attempts never count${cancelled > 0 ? ` (${countOf(cancelled, 'attempt')} here)` : ''}.`,
    'Attempts are averaged per scenario; means, errors and 95% confidence intervals use these scenario means.',
    passRule(scale),
  ]
  if (agents.some(({ n_with_tokens, n_with_cost }) => n_with_tokens + n_with_cost > 0))
    notes.push('Tokens and cost are sums over the attempts that report them, excluding retries.')
  if (unknown > 0) notes.push(`Not counted because of an unknown state: ${countOf(unknown, 'attempt')}.`)
  if (pairs.length > 0)
    notes.push(
      'Pairs are compared on the scenarios both scored: t interval of the mean difference, p from an exact sign-flip test.',
      `p is Holm-adjusted over ${countOf(testedPairs(pairs), 'pair')}; significant means adjusted p < 0.05.`,
      'The number of scenarios needed assumes alpha 0.05, power 0.95 and the same difference and variance.',
    )
  if (pairs.some(({ a, b }) => isControl(a.agent_name) || isControl(b.agent_name)))
    notes.push('p is not adjusted for pairs with oracle or nop.')
  if (pairs.some(({ method }) => method === 'sign_flips_rounded'))
    notes.push(
      'Some p values use differences rounded to a grid of at least 16,384 steps, as there are too many sign patterns to enumerate.',
    )
  if (pairs.some(({ method }) => method === 'sign_flips_normal'))
    notes.push('Some p values use the normal approximation, as there are too many sign patterns to enumerate.')
  return notes
}
