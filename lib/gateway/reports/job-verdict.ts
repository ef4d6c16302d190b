import {
  aboutScenarios,
  amount,
  countOf,
  differenceWords,
  failureRule,
  leaderFirst,
  metricLabel,
  metricText,
  type NameOf,
  namesOf,
  passRule,
  pText,
} from '#lib/protocol/report-words.ts'
import type { AgentFigures, AgentIdentity, PairFigures, Report, Verdict } from '#lib/protocol/reports.ts'
import { isControl, type Judgment } from '#lib/statistics/figures.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'

type Figures = Pick<Report, 'complete' | 'agents' | 'pairs' | 'excluded_scenarios'> & {
  state?: string
  planned?: number | undefined
  metric?: string | null
  lower_is_better?: boolean
}

export const verdictOf = (figures: Figures): Verdict => {
  const { complete, state = 'completed', planned = 0, metric = null, agents, pairs, excluded_scenarios } = figures
  const isLowerBetter = figures.lower_is_better === true
  const soFar = complete ? '' : 'So far: '
  const scored = agents
    .filter(({ mean }) => mean !== null)
    .sort((a, b) => (isLowerBetter ? 1 : -1) * ((a.mean ?? 0) - (b.mean ?? 0)))
  const name = namesOf(agents)
  const unscored = agents.filter(({ mean }) => mean === null).map((agent) => unscoredSentence(agent, name))
  const counts = stateCounts(agents)
  const made = attemptsOf(agents)
  const attempts = countOf(made, 'attempt')
  const outcomes =
    planned > made
      ? `${made.toLocaleString('en-US')} of ${countOf(planned, 'attempt')} have an outcome`
      : `${attempts} ${made === 1 ? 'has' : 'have'} an outcome`
  const early =
    state in endings ? [`The job ${endings[state]}: ${outcomes}.`] : planned > made ? [`Only ${outcomes}.`] : []
  const cutShort = complete ? early : []
  if (
    !isBuiltIn(metric) &&
    counts.length > 0 &&
    agents.every(({ n_completed, n_other }) => n_completed + n_other === 0)
  )
    return {
      lead: `${soFar}No attempt completed, so agents can't be compared.`,
      more: [`${attempts}: ${counts.join(', ')}.`, ...(scored.length > 0 ? [zeroSentence] : [])],
      tone: 'attention',
    }
  const candidates = scored.filter(({ agent_name }) => !isControl(agent_name))
  // Controls are only compared if there is nothing else.
  const compared = candidates.length > 0 ? candidates : scored
  const [best, second] = compared
  const controls = controlsSentence(
    scored
      .filter((agent) => !compared.includes(agent))
      .map(({ agent_name, mean }) => `${agent_name} (${metricText(metric, mean ?? 0)})`),
  )
  if (!best)
    return {
      lead: complete ? 'No agent has a score.' : 'No agent has a score yet.',
      more: agents.length === 0 ? ['No agent has an outcome.'] : unscored,
      tone: 'neutral',
    }
  const unanswered = isBuiltIn(metric) ? [] : unansweredSentence(agents, name)
  if (!second)
    return {
      lead: `${soFar}${name(best)} ${metricVerb(metric)} ${metricText(metric, best.mean ?? 0)} (${intervalText(best, metric)}, ${countOf(best.n_scenarios, 'scenario')}).`,
      more: [...cutShort, ...unanswered, ...controls, ...unscored, ...metricSentence(metric)],
      tone: unanswered.length > 0 ? 'attention' : 'neutral',
    }
  const between = pairs.find(({ a, b }) => (isRun(a, best) && isRun(b, second)) || (isRun(a, second) && isRun(b, best)))
  const pair = between && leaderFirst(between)
  const tested = testedPairs(pairs)
  const excluded = excluded_scenarios.length
  const lead = pair ? pairSentence(pair, name, tested, metric) : `${name(best)} and ${name(second)} were not compared.`
  return {
    lead: soFar + lead,
    more: [
      ...cutShort,
      ...unanswered,
      ...(pair ? explanationOf(pair, tested) : []),
      ...controls,
      ...(excluded > 0
        ? [
            `${countOf(excluded, 'scenario lacks', 'scenarios lack')} a score for some agents; each pair is compared on the scenarios both scored.`,
          ]
        : []),
      ...unscored,
      ...metricSentence(metric),
    ],
    tone:
      unanswered.length > 0 ? 'attention' : pair?.significant ? 'ok' : pair?.difference === 0 ? 'neutral' : 'attention',
  }
}

export const endings: Readonly<Record<string, string>> = {
  cancelled: 'was canceled',
  failed: 'failed',
  timeout: 'timed out',
  incomplete: 'was imported while still running',
}

export const metricVerb = (metric: string | null): string => (isBuiltIn(metric) ? 'averages' : 'scores')

export const metricSentence = (metric: string | null): string[] =>
  metric === null || metric === 'reward' ? [] : [`Metric: ${metricLabel(metric)}.`]

const attemptsOf = (agents: readonly AgentFigures[]): number =>
  agents.reduce((sum, { n_completed, n_failed, n_timeout, n_cancelled, n_other }) => {
    return sum + n_completed + n_failed + n_timeout + n_cancelled + n_other
  }, 0)

const stateCounts = (agents: readonly AgentFigures[]): string[] => {
  const kinds = { n_failed: 'failed', n_timeout: 'timed out', n_cancelled: 'canceled' } as const
  return Object.entries(kinds).flatMap(([kind, words]) => {
    const count = agents.reduce((sum, agent) => sum + agent[kind as keyof typeof kinds], 0)
    return count > 0 ? [`${count.toLocaleString('en-US')} ${words}`] : []
  })
}

const zeroSentence = 'Scores of 0 here reflect failures or timeouts, not wrong answers.'

/** Names agents whose mean of 0 reflects no answer at all, for example because of a rejected key. */
export const unansweredSentence = (agents: readonly AgentFigures[], name: NameOf): string[] => {
  const unanswered = agents.filter(({ mean, n_completed, n_other }) => mean !== null && n_completed + n_other === 0)
  if (unanswered.length === 0) return []
  const named = listNames(unanswered.map((agent) => `${name(agent)} (${stateCounts([agent]).join(', ')})`))
  return [`No attempt completed: ${named}. ${zeroSentence}`]
}

const maxNamed = 3

const listNames = (names: readonly string[]): string =>
  `${names.slice(0, maxNamed).join(', ')}${names.length > maxNamed ? ` and ${names.length - maxNamed} more` : ''}`

export const controlsSentence = (controls: readonly string[]): string[] =>
  controls.length === 0 ? [] : [`Not compared: ${controls.join(', ')}, which only check the tasks.`]

export const testedPairs = (pairs: readonly PairFigures[]): number =>
  pairs.filter(({ p_adjusted }) => p_adjusted != null).length

const explanationOf = ({ p_value, difference }: PairFigures, tested: number): string[] =>
  p_value == null || difference === 0 || tested < 2
    ? []
    : [`Unadjusted ${pText(p_value)}; adjusted for ${tested} comparisons.`]

const isRun = (one: AgentIdentity, other: AgentIdentity): boolean => one.benchmark_run_id === other.benchmark_run_id

const intervalText = (
  { ci_low, ci_high, reasons }: Pick<AgentFigures | PairFigures, 'ci_low' | 'ci_high' | 'reasons'>,
  metric: string | null | undefined,
): string =>
  ci_low === null || ci_high === null
    ? `no CI: ${reasons.ci_low ?? 'unknown spread'}`
    : `95% CI ${metricText(metric, ci_low)} to ${metricText(metric, ci_high)}`

const unscoredSentence = (agent: AgentFigures, name: NameOf): string =>
  `${name(agent)} has no score: ${agent.reasons.mean ?? 'no counted outcome'}.`

const pairSentence = (pair: PairFigures, name: NameOf, tested: number, metric: string | null): string => {
  const { a, b, difference, mean_a, se, n, reasons } = pair
  const [first, second] = [name(a), name(b)]
  if (difference === null)
    return `${first} and ${second} can't be compared: ${reasons.difference ?? 'no common scenario'}.`
  if (se === 0 && difference === 0)
    return `${first} and ${second} score the same on all ${countOf(n, 'scenario')} (mean ${metricText(metric, mean_a ?? 0)}).`
  if (difference === 0) return `${first} and ${second} score the same ${evidence(pair, tested, metric)}`
  const lead = pair.lower_is_better
    ? `${differenceWords(difference, true, metric)} than ${second}`
    : `leads ${second} by ${amount(difference, metric)}`
  return `${first} ${lead} ${evidence(pair, tested, metric)}`
}

export const evidence = (pair: PairFigures, tested: number, metric: string | null | undefined): string => {
  const { difference, n, significant, p_value, p_adjusted, scenarios_needed, min_scenarios } = pair
  const basis = `(${intervalText(pair, metric)}, ${countOf(n, 'paired scenario')}).`
  if (difference === 0) return basis
  const p = tested > 1 && p_adjusted !== null ? `adjusted ${pText(p_adjusted)}` : p_value == null ? '' : pText(p_value)
  const needed = significant
    ? ''
    : scenarios_needed !== null
      ? `${aboutScenarios(scenarios_needed)} needed`
      : n < min_scenarios
        ? `at least ${min_scenarios} scenarios needed`
        : ''
  return `${basis} ${[significant ? 'Significant' : 'Not significant', p].filter(Boolean).join(', ')}${needed && `; ${needed}`}.`
}

export const notesOf = ({
  rule,
  complete,
  metric,
  agents,
  pairs,
  ...scale
}: Omit<Judgment, 'excluded_scenarios'> & Pick<Report, 'metric'>): string[] => {
  const cancelled = agents.reduce((sum, { n_cancelled }) => sum + n_cancelled, 0)
  const unknown = agents.reduce((sum, { n_other }) => sum + n_other, 0)
  const notes = [
    ...(complete ? [] : ['Incomplete: more outcomes may arrive, and all figures are preliminary.']),
    ...(metric === null ? [] : [`Metric: ${metricLabel(metric)}.`]),
    ...(scale.lower_is_better ? ['Lower is better.'] : []),
    failureRule({ rule, metric, ...scale }),
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
