import { fewestToSettle } from '#lib/statistics/figures.ts'
import { countOf, isControl, labelOf, probability, three, turned } from '#lib/wire/report-words.ts'
import type { AgentFigures, AgentIdentity, PairFigures, Report, Verdict } from '#lib/wire/reports.ts'

type Figures = Pick<Report, 'complete' | 'agents' | 'pairs' | 'excluded_scenarios'>

/** What a report comes to in words. While the job runs every sentence is about what is known so far. */
export const verdictOf = ({ complete, agents, pairs, excluded_scenarios }: Figures): Verdict => {
  const scored = agents.filter(({ mean }) => mean !== null).sort((a, b) => (b.mean ?? 0) - (a.mean ?? 0))
  const judged = scored.filter(({ agent_name }) => !isControl(agent_name))
  // A reader who chooses between two agents does not ask how the solution that comes with the tasks does.
  const [best, second] = judged.length > 1 ? judged : scored
  const controls = judged.length > 1 ? scored.filter(({ agent_name }) => isControl(agent_name)) : []
  const unscored = agents.filter(({ mean }) => mean === null).map(unscoredSentence)
  const soFar = complete ? '' : 'So far: '
  if (!best)
    return {
      lead: complete ? 'Nothing can be said of the agents.' : 'So far: nothing can be said of the agents.',
      more: agents.length === 0 ? ['No agent has an outcome.'] : unscored,
      tone: 'neutral',
    }
  if (!second)
    return { lead: soFar + aloneSentence(best), more: [...noneCompleted(agents), ...unscored], tone: 'neutral' }
  const pair = pairs.find(({ a, b }) => (isOf(a, best) && isOf(b, second)) || (isOf(a, second) && isOf(b, best)))
  const settledPairs = pairs.filter(({ settled }) => settled).length
  const others =
    pairs.length > 1
      ? [`${settledPairs} of ${pairs.length} pairs of agents ${settledPairs === 1 ? 'is' : 'are'} settled.`]
      : []
  const excluded =
    excluded_scenarios.length > 0
      ? [
          `${countOf(excluded_scenarios.length, 'scenario')} not counted for every agent: pairs are compared on those both have.`,
        ]
      : []
  return {
    lead: soFar + (pair ? pairSentence(pair) : `${labelOf(best)} and ${labelOf(second)} were not compared.`),
    more: [
      ...noneCompleted(agents),
      ...doubtOf(pair, testedOf(pairs)),
      ...others,
      ...controlsSentence(controls),
      ...excluded,
      ...unscored,
    ],
    tone: pair?.settled ? 'ok' : 'attention',
  }
}

/** A score of 0 that no attempt was given says nothing of an agent. */
const noneCompleted = (agents: readonly AgentFigures[]): string[] =>
  agents.every(({ n_completed }) => n_completed === 0)
    ? ['No attempt of any agent completed: each 0 stands for a failure or a timeout, not for a wrong answer.']
    : []

const controlsSentence = (controls: readonly AgentFigures[]): string[] =>
  controls.length === 0
    ? []
    : [
        `${controls.map(({ agent_name, mean }) => `${agent_name} (${three(mean ?? 0)})`).join(' and ')} ${controls.length === 1 ? 'checks the tasks and is' : 'check the tasks and are'} not compared here.`,
      ]

/** The pairs that p is adjusted for: those that have one. */
export const testedOf = (pairs: readonly PairFigures[]): number => pairs.filter(({ p_value }) => p_value != null).length

/** By what a difference counts as settled; its own interval may leave out 0 all the same. */
const doubtOf = (pair: PairFigures | undefined, tested: number): string[] => {
  if (pair?.p_value == null || pair.p_adjusted == null) return []
  const { p_value, p_adjusted, settled, ci_low, ci_high } = pair
  const isBeside = ci_low !== null && ci_high !== null && (ci_low > 0 || ci_high < 0)
  const p = `${isBeside && !settled ? 'The interval leaves out 0, but p' : 'p'} is ${probabilityIn(p_value)}`
  const adjusted = tested > 1 ? `, and ${probabilityIn(p_adjusted)} with ${allOf(tested, 'pairs')} regarded` : ''
  return [`${p}${adjusted}; settled is below 0.05.`]
}

const isOf = (one: AgentIdentity, other: AgentIdentity): boolean => one.benchmark_run_id === other.benchmark_run_id

const aloneSentence = (agent: AgentFigures): string => {
  const { mean, ci_low, ci_high, n_scenarios, reasons } = agent
  const interval =
    ci_low === null || ci_high === null
      ? `no interval: ${reasons.ci_low ?? 'it cannot be computed'}`
      : `95 % interval ${three(ci_low)} to ${three(ci_high)}`
  return `${labelOf(agent)} scores ${three(mean ?? 0)} (${interval}; over ${countOf(n_scenarios, 'scenario')}).`
}

const unscoredSentence = (agent: AgentFigures): string =>
  `${labelOf(agent)} has no score: ${agent.reasons.mean ?? 'none of its outcomes counts'}.`

const pairSentence = (given: PairFigures): string => {
  const pair = turned(given)
  const { a, b, difference, ci_low, ci_high, n, reasons } = pair
  if (difference === null)
    return `${labelOf(a)} and ${labelOf(b)} cannot be compared: ${reasons.difference ?? 'they share no scenario'}.`
  const stand =
    difference === 0
      ? `${labelOf(a)} and ${labelOf(b)} score the same`
      : `${labelOf(a)} is ahead of ${labelOf(b)} by ${three(difference)}`
  const interval =
    ci_low === null || ci_high === null
      ? `no interval: ${reasons.ci_low ?? 'it cannot be computed'}`
      : `95 % interval ${three(ci_low)} to ${three(ci_high)}`
  return `${stand} (${interval}, paired over ${countOf(n, 'scenario')}): ${settledWords(pair)}.`
}

export const settledWords = ({ settled, scenarios_to_settle, n, difference }: PairFigures): string => {
  if (settled) return 'settled'
  if (scenarios_to_settle === null && difference !== 0 && n < fewestToSettle)
    return `not settled, which takes ${fewestToSettle} scenarios at least`
  return scenarios_to_settle === null
    ? 'not settled'
    : `not settled; about ${countOf(scenarios_to_settle, 'scenario')} would settle it`
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
