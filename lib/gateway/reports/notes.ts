import { countOf } from '#lib/wire/report-words.ts'
import type { AgentFigures, FailureRule, PairFigures } from '#lib/wire/reports.ts'
import { testedOf } from './job-verdict.ts'

const rules: Record<FailureRule, string> = {
  zero: 'Failures and timeouts count 0.',
  leave_out: 'Failures and timeouts are left out: means are over the completed attempts.',
}

/** What numbers mean that their names do not say. */
export const notesOf = (
  rule: FailureRule,
  complete: boolean,
  agents: readonly AgentFigures[],
  pairs: readonly PairFigures[],
): string[] => {
  const cancelled = agents.reduce((sum, { n_cancelled }) => sum + n_cancelled, 0)
  const unknown = agents.reduce((sum, { n_other }) => sum + n_other, 0)
  const sampled = pairs.find(({ method }) => method === 'sign_flips_sampled')
  const notes = [
    ...(complete ? [] : ['Not complete: outcomes may still come, and all numbers are of what there is so far.']),
    rules[rule],
    `Cancelled attempts do not count under either rule${cancelled > 0 ? ` (${countOf(cancelled, 'attempt')} here)` : ''}.`,
    'Attempts are averaged per scenario first; means, errors and 95 % intervals are of the means of the scenarios.',
    'A scenario passes where the mean of its attempts is 1; in pass@k an attempt passes with the score 1.',
  ]
  if (agents.some(({ n_with_tokens, n_with_cost }) => n_with_tokens + n_with_cost > 0))
    notes.push(
      'Tokens and cost are sums over the attempts that tell them, as the agents themselves count; those of retries are not in them.',
    )
  if (unknown > 0) notes.push(`${countOf(unknown, 'attempt')} in a state that is not known do not count.`)
  if (pairs.length > 0)
    notes.push(
      'Pairs are compared over the scenarios both have a score for: t interval of the mean difference, p by flipping its signs.',
      `Adjusted p are by Holm over the ${countOf(testedOf(pairs), 'pair')} with a p here; settled means below 0.05.`,
      'The scenarios that would settle a difference are for alpha 0.05 and power 0.95, if it stays as large and as spread.',
    )
  if (sampled)
    notes.push(
      `Over more than 20 scenarios p is from ${sampled.permutations?.toLocaleString('en-US')} random patterns of signs, drawn from the seed ${sampled.seed}.`,
    )
  return notes
}
