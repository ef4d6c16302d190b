import { countOf, cutPart, passRule } from '#lib/protocol/report-words.ts'
import type { FailureRule, Report } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { testedOf } from './job-verdict.ts'

const rules: Record<FailureRule, string> = {
  zero: 'Failures count 0, and so do timeouts and completed attempts without a score.',
  leave_out: 'Failures and timeouts are left out, scored timeouts too: means are over the other completed attempts.',
}

type Figures = Pick<Report, 'rule' | 'complete' | 'metric' | 'is_unit_range' | 'threshold' | 'agents' | 'pairs'>

/** What numbers mean that their names do not say. */
export const notesOf = ({ rule, complete, metric, agents, pairs, ...scale }: Figures): string[] => {
  const cancelled = agents.reduce((sum, { n_cancelled }) => sum + n_cancelled, 0)
  const unknown = agents.reduce((sum, { n_other }) => sum + n_other, 0)
  const notes = [
    ...(complete ? [] : ['Not complete: outcomes may still come, and all numbers are of what there is so far.']),
    ...(metric === null ? [] : [`The metric is ${cutPart(metric)}.`]),
    rules[rule],
    `Cancelled attempts do not count under either rule${cancelled > 0 ? ` (${countOf(cancelled, 'attempt')} here)` : ''}.`,
    'Attempts are averaged per scenario first; means, errors and 95 % intervals are of the means of the scenarios.',
    passRule(scale),
  ]
  if (agents.some(({ n_with_tokens, n_with_cost }) => n_with_tokens + n_with_cost > 0))
    notes.push(
      'Tokens and cost are sums over the attempts that report them, as the agents themselves count; those of retries are not in them.',
    )
  if (unknown > 0) notes.push(`${countOf(unknown, 'attempt')} in a state that is not known do not count.`)
  if (pairs.length > 0)
    notes.push(
      'Pairs are compared over the scenarios both have a score for: t interval of the mean difference, exact p by flipping its signs.',
      `Adjusted p are by Holm over ${countOf(testedOf(pairs), 'pair')}; settled means below 0.05.`,
      'The scenarios that would settle a difference are for alpha 0.05 and power 0.95, if it stays as large and as spread.',
    )
  if (pairs.some(({ a, b }) => isControl(a.agent_name) || isControl(b.agent_name)))
    notes.push('Pairs with oracle or nop are not among these: their p is not adjusted.')
  if (pairs.some(({ method }) => method === 'sign_flips_rounded'))
    notes.push(
      'Some p are of differences rounded to a grid of at least 16,384 steps, because their sign patterns are too many to count.',
    )
  if (pairs.some(({ method }) => method === 'sign_flips_normal'))
    notes.push('Some p are by the normal distribution, because their sign patterns are too many to count.')
  return notes
}
