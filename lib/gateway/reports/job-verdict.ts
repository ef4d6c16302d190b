import {
  aboutScenarios,
  byAmount,
  countOf,
  cutPart,
  type NameOf,
  namesOf,
  probability,
  three,
  turned,
} from '#lib/protocol/report-words.ts'
import type { AgentFigures, AgentIdentity, PairFigures, Report, Verdict } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'

type Figures = Pick<Report, 'complete' | 'agents' | 'pairs' | 'excluded_scenarios'> & {
  state?: string
  /** Attempts of all agents, where the job reports them. */
  planned?: number | undefined
  metric?: string | null
}

/** What a report comes to in words. While the job runs every sentence is about what is known so far. */
export const verdictOf = (figures: Figures): Verdict => {
  const { complete, state = 'completed', planned = 0, metric = null, agents, pairs, excluded_scenarios } = figures
  const soFar = complete ? '' : 'So far: '
  const scored = agents.filter(({ mean }) => mean !== null).sort((a, b) => (b.mean ?? 0) - (a.mean ?? 0))
  const name = namesOf(agents)
  const unscored = agents.filter(({ mean }) => mean === null).map((agent) => unscoredSentence(agent, name))
  const ended = endedCounts(agents)
  const made = attemptsOf(agents)
  const attempts = countOf(made, 'attempt')
  const there = planned > made ? `${made.toLocaleString('en-US')} of ${countOf(planned, 'attempt')}` : attempts
  const lacking = planned > made ? [`Only ${there} have an outcome.`] : []
  const cutShort = !complete ? [] : state in endings ? [`The job ${endings[state]}: there are ${there}.`] : lacking
  if (ended.length > 0 && agents.every(({ n_completed, n_other }) => n_completed + n_other === 0))
    return {
      lead: `${complete ? 'No' : 'So far: no'} attempt of any agent completed: nothing can be said of the agents.`,
      more: [
        `${attempts}: ${ended.join(', ')}.`,
        ...(scored.length > 0 ? ['Each 0 stands for a failure or a timeout, not for a wrong answer.'] : []),
      ],
      tone: 'attention',
    }
  const judged = scored.filter(({ agent_name }) => !isControl(agent_name))
  // A reader who chooses between agents does not ask how the solution that comes with the tasks does.
  const among = judged.length > 0 ? judged : scored
  const [best, second] = among
  const controls = scored.filter((agent) => !among.includes(agent))
  const checks = controlsSentence(
    controls.map(({ agent_name, mean }) => `${agent_name} (${three(mean ?? 0)})`),
    'not compared',
  )
  if (!best)
    return {
      lead: `${complete ? 'Nothing' : 'So far: nothing'} can be said of the agents.`,
      more: agents.length === 0 ? ['No agent has an outcome.'] : unscored,
      tone: 'neutral',
    }
  const unanswered = unansweredSentence(agents, name)
  if (!second)
    return {
      lead: soFar + aloneSentence(best, name),
      more: [...cutShort, ...unanswered, ...checks, ...unscored, ...metricSentence(metric)],
      tone: unanswered.length > 0 ? 'attention' : 'neutral',
    }
  const between = pairs.find(({ a, b }) => (isOf(a, best) && isOf(b, second)) || (isOf(a, second) && isOf(b, best)))
  const pair = between && turned(between)
  const tied = among.filter(({ mean }) => mean !== null && Math.abs(mean - (best.mean ?? 0)) < sameMean)
  const excluded = excluded_scenarios.length
  return {
    lead:
      soFar +
      (!pair
        ? `${name(best)} and ${name(second)} were not compared.`
        : pair.difference === 0 && tied.length > 2
          ? tieSentence(tied, among.length, name)
          : pairSentence(pair, name)),
    more: [
      ...cutShort,
      ...unanswered,
      ...(pair?.difference ? othersSentence(pair.a, pairs, among) : []),
      ...doubtOf(pair, testedOf(pairs)),
      ...checks,
      ...(excluded > 0
        ? [
            `${countOf(excluded, 'scenario has', 'scenarios have')} no score of some agents: each pair is compared on those both have.`,
          ]
        : []),
      ...unscored,
      ...metricSentence(metric),
    ],
    tone: unanswered.length > 0 ? 'attention' : pair?.settled ? 'ok' : pair?.difference === 0 ? 'neutral' : 'attention',
  }
}

/** What ends a job before all of its attempts were made. */
export const endings: Readonly<Record<string, string>> = {
  cancelled: 'was cancelled',
  failed: 'failed',
  timeout: 'ran out of time',
  incomplete: 'was copied while it was running',
}

/** Names the metric of the scores, unless it goes by the usual name. */
export const metricSentence = (metric: string | null): string[] =>
  metric === null || metric === 'reward' ? [] : [`Judged by ${cutPart(metric)}.`]

/** Means over the same scores differ in their last digits, where these were added in another order. */
const sameMean = 1e-9

const attemptsOf = (agents: readonly AgentFigures[]): number =>
  agents.reduce((sum, { n_completed, n_failed, n_timeout, n_cancelled, n_other }) => {
    return sum + n_completed + n_failed + n_timeout + n_cancelled + n_other
  }, 0)

/** How attempts ended that did not complete: `12 failed`, `3 timed out`. */
const endedCounts = (agents: readonly AgentFigures[]): string[] => {
  const kinds = { n_failed: 'failed', n_timeout: 'timed out', n_cancelled: 'cancelled' } as const
  return Object.entries(kinds).flatMap(([kind, words]) => {
    const count = agents.reduce((sum, agent) => sum + agent[kind as keyof typeof kinds], 0)
    return count > 0 ? [`${count.toLocaleString('en-US')} ${words}`] : []
  })
}

/** Whose mean of 0 says nothing of its answers: there are none, as with a key that was refused. */
export const unansweredSentence = (agents: readonly AgentFigures[], name: NameOf): string[] => {
  const unanswered = agents.filter(({ mean, n_completed, n_other }) => mean !== null && n_completed + n_other === 0)
  if (unanswered.length === 0) return []
  const named = firstOf(unanswered.map((agent) => `${name(agent)} (${endedCounts([agent]).join(', ')})`))
  return [`No attempt completed: ${named}. Each 0 there stands for a failure or a timeout, not for a wrong answer.`]
}

const mostNamed = 3

const firstOf = (names: readonly string[]): string =>
  `${names.slice(0, mostNamed).join(', ')}${names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''}`

const tieSentence = (tied: readonly AgentFigures[], all: number, name: NameOf): string => {
  const mean = three(tied[0]?.mean ?? 0)
  if (tied.length === all) return `All ${all} agents score the same: ${mean}.`
  return `${tied.length} of ${all} agents share the highest score, ${mean}: ${firstOf(tied.map(name))}.`
}

/** How the one that is ahead stands to all others one could choose. */
const othersSentence = (
  first: AgentIdentity,
  pairs: readonly PairFigures[],
  among: readonly AgentFigures[],
): string[] => {
  const others = among.filter((each) => !isOf(each, first))
  if (others.length < 2) return []
  const behind = others.filter((other) =>
    pairs.some((pair) => {
      const { a, b, settled } = turned(pair)
      return settled && isOf(a, first) && isOf(b, other)
    }),
  )
  const over =
    behind.length === others.length
      ? allOf(others.length, 'other agents')
      : `${behind.length || 'none'} of the ${others.length} other agents`
  return [`Its lead is settled over ${over}.`]
}

/** Of agents that check the tasks, as each is called, beside those that a verdict is of; none where there are none. */
export const controlsSentence = (controls: readonly string[], left: 'not compared' | 'not counted'): string[] =>
  controls.length === 0
    ? []
    : [
        `${controls.join(' and ')} ${controls.length === 1 ? 'checks the tasks and is' : 'check the tasks and are'} ${left} here.`,
      ]

/** Number of pairs that p is adjusted for. */
export const testedOf = (pairs: readonly PairFigures[]): number =>
  pairs.filter(({ p_adjusted }) => p_adjusted != null).length

/** By what a difference counts as settled; its own interval may leave out 0 all the same. */
const doubtOf = (pair: PairFigures | undefined, tested: number): string[] => {
  if (pair?.p_value == null || pair.difference === 0) return []
  const { p_value, p_adjusted, settled, ci_low, ci_high } = pair
  const isBeside = ci_low !== null && ci_high !== null && (ci_low > 0 || ci_high < 0)
  const although =
    ci_low === null || isBeside === settled ? '' : `The interval ${isBeside ? 'leaves out' : 'holds'} 0, but `
  const p = `${although}p is ${probabilityIn(p_value)}`
  const adjusted =
    tested > 1 && p_adjusted !== null
      ? `, and ${probabilityIn(p_adjusted)} with ${allOf(tested, 'pairs')} regarded`
      : ''
  return [`${p}${adjusted}; settled is below 0.05.`]
}

const isOf = (one: AgentIdentity, other: AgentIdentity): boolean => one.benchmark_run_id === other.benchmark_run_id

const aloneSentence = (agent: AgentFigures, name: NameOf): string => {
  const { mean, n_scenarios } = agent
  return `${name(agent)} scores ${three(mean ?? 0)} (${intervalWords(agent)}; over ${countOf(n_scenarios, 'scenario')}).`
}

export const intervalWords = (
  { ci_low, ci_high, reasons }: Pick<AgentFigures | PairFigures, 'ci_low' | 'ci_high' | 'reasons'>,
  of = '',
): string =>
  ci_low === null || ci_high === null
    ? `no interval: ${reasons.ci_low ?? 'it cannot be computed'}`
    : `95 % interval${of} ${three(ci_low)} to ${three(ci_high)}`

const unscoredSentence = (agent: AgentFigures, name: NameOf): string =>
  `${name(agent)} has no score: ${agent.reasons.mean ?? 'none of its outcomes counts'}.`

const pairSentence = (pair: PairFigures, name: NameOf): string => {
  const { a, b, difference, mean_a, se, n, reasons } = pair
  const [first, second] = [name(a), name(b)]
  if (difference === null)
    return `${first} and ${second} cannot be compared: ${reasons.difference ?? 'they share no scenario'}.`
  if (se === 0 && difference === 0)
    return `${first} and ${second} score the same at each of ${countOf(n, 'scenario')}, ${three(mean_a ?? 0)} in the mean.`
  const stand =
    difference === 0
      ? `${first} and ${second} score the same`
      : `${first} is ahead of ${second} by ${byAmount(difference)}`
  return `${stand} (${intervalWords(pair)}, paired over ${countOf(n, 'scenario')})${difference === 0 ? '' : `: ${settledWords(pair)}`}.`
}

export const settledWords = (pair: PairFigures): string => {
  const { settled, scenarios_to_settle, fewest_to_settle, n, difference } = pair
  if (settled) return 'settled'
  if (scenarios_to_settle === null && difference !== 0 && n < fewest_to_settle)
    return `not settled, which takes ${fewest_to_settle} scenarios at least`
  return scenarios_to_settle === null
    ? 'not settled'
    : `not settled; ${aboutScenarios(scenarios_to_settle)} would settle it`
}

/** In a sentence. */
const probabilityIn = (p: number): string => probability(p).replace('<', 'below')

/** `both pairs`, `all 3 pairs` */
export const allOf = (count: number, nouns: string): string =>
  count === 2 ? `both ${nouns}` : `all ${count.toLocaleString('en-US')} ${nouns}`

/** The p of a difference, and what it is with all that are reported together regarded: `all 3 sides`. */
export const probabilityWords = ({ p_value, p_adjusted }: PairFigures, all: string | null): string => {
  if (p_value == null) return ''
  return all === null || p_adjusted === null
    ? `, p ${probability(p_value)}`
    : `, p ${probability(p_value)}, with ${all} regarded ${probability(p_adjusted)}`
}
