import type { AgentFigures, AgentIdentity, PairFigures, Report } from '#lib/wire/reports.ts'
import { agentLabel } from '../job-figures.ts'

export interface Verdict {
  /** Which agent is better, by how much and whether that is settled. */
  lead: string
  /** What there is to say beside it, sentence by sentence. */
  more: readonly string[]
  tone: 'ok' | 'attention' | 'neutral'
}

type Figures = Pick<Report, 'complete' | 'agents' | 'pairs' | 'excluded_scenarios'>

/** What a report comes to in words. While the job runs every sentence is about what is known so far. */
export const verdictOf = ({ complete, agents, pairs, excluded_scenarios }: Figures): Verdict => {
  const scored = agents.filter(({ mean }) => mean !== null).sort((a, b) => (b.mean ?? 0) - (a.mean ?? 0))
  const judged = scored.filter(({ agent_name }) => !isControl(agent_name))
  // Who has two agents to choose from does not ask how the solution that comes with the tasks does.
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
  const others =
    pairs.length > 1
      ? [`${pairs.filter(({ settled }) => settled).length} of ${pairs.length} pairs of agents are settled.`]
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
      ...doubtOf(pair, pairs.length),
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

/** Agents of Harbor that check the tasks: one does nothing, the other runs the solution that comes with a task. */
export const isControl = (name: string): boolean => name === 'nop' || name === 'oracle'

const controlsSentence = (controls: readonly AgentFigures[]): string[] =>
  controls.length === 0
    ? []
    : [
        `${controls.map(({ agent_name, mean }) => `${agent_name} (${three(mean ?? 0)})`).join(' and ')} ${controls.length === 1 ? 'checks the tasks and is' : 'check the tasks and are'} not compared here.`,
      ]

/** By what a difference counts as settled; its own interval may leave out 0 all the same. */
const doubtOf = (pair: PairFigures | undefined, pairs: number): string[] => {
  if (pair?.p_value == null || pair.p_adjusted == null) return []
  const { p_value, p_adjusted, settled, ci_low, ci_high } = pair
  const isBeside = ci_low !== null && ci_high !== null && (ci_low > 0 || ci_high < 0)
  const p = `${isBeside && !settled ? 'The interval leaves out 0, but p' : 'p'} is ${probability(p_value)}`
  const adjusted = pairs > 1 ? `, and ${probability(p_adjusted)} with all ${pairs} pairs regarded` : ''
  return [`${p}${adjusted}; settled is below 0.05.`]
}

const isOf = (one: AgentIdentity, other: AgentIdentity): boolean => one.benchmark_run_id === other.benchmark_run_id

export const labelOf = ({ agent_name, model_name }: AgentIdentity): string =>
  agentLabel({ name: agent_name, model: model_name })

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

/** A pair turned so that its first agent is the one with the higher mean. */
export const turned = (pair: PairFigures): PairFigures => {
  if ((pair.difference ?? 0) >= 0) return pair
  return {
    ...pair,
    a: pair.b,
    b: pair.a,
    mean_a: pair.mean_b,
    mean_b: pair.mean_a,
    difference: pair.difference === null ? null : -pair.difference,
    ci_low: pair.ci_high === null ? null : -pair.ci_high,
    ci_high: pair.ci_low === null ? null : -pair.ci_low,
    only_a_passes: pair.only_b_passes,
    only_b_passes: pair.only_a_passes,
  }
}

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

export const settledWords = ({ settled, scenarios_to_settle }: PairFigures): string => {
  if (settled) return 'settled'
  return scenarios_to_settle === null
    ? 'not settled'
    : `not settled; about ${countOf(scenarios_to_settle, 'scenario')} would settle it`
}

/** Differences and the ends of intervals, which are compared by eye. */
export const three = (value: number): string => value.toFixed(3).replace(/^-(0\.000)$/, '$1')

/** The p of a difference, and what it is with all that are reported together regarded: `all 3 sides`. */
export const probabilityWords = ({ p_value, p_adjusted }: PairFigures, all: string | null): string => {
  if (p_value == null) return ''
  return all === null || p_adjusted === null
    ? `, p ${probability(p_value)}`
    : `, p ${probability(p_value)}, with ${all} regarded ${probability(p_adjusted)}`
}

export const probability = (p: number): string => (p < 0.0001 ? '< 0.0001' : p.toFixed(4))

export const countOf = (count: number, noun: string) =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
