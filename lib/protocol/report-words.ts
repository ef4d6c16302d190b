import { isControl } from '#lib/statistics/figures.ts'
import type { AgentIdentity, ComparedPair, CompareReport, PairFigures, ScoreScale, TrendPoint } from './reports.ts'

/** Longest name or model in one line of text, in characters. */
const longestPart = 120

/** Cut where no character is halved. */
export const cutPart = (part: string, max = longestPart): string =>
  part.length <= max ? part : `${[...part.slice(0, max + 1)].slice(0, -1).join('')}…`

/** An agent in one line of text. */
export const agentLabel = ({ name, model }: { name: string; model: string | null | undefined }): string => {
  const shown = cutPart(name.trim() || 'Unnamed agent')
  return model?.trim() ? `${shown} · ${cutPart(model)}` : shown
}

export const labelOf = ({ agent_name, model_name }: AgentIdentity): string =>
  agentLabel({ name: agent_name, model: model_name })

export type NameOf = (agent: AgentIdentity) => string

/** What tells apart those that are called the same, in their order: ` (1 of 2)`; nothing for the others. */
export const repeatMarks = (labels: readonly string[]): string[] =>
  labels.map((label, at) => {
    const count = labels.filter((each) => each === label).length
    const number = labels.slice(0, at + 1).filter((each) => each === label).length
    return count > 1 ? ` (${number} of ${count})` : ''
  })

/** How agents of a report are called. A job may have one of them twice, with other arguments. */
export const namesOf = (agents: readonly AgentIdentity[]): NameOf => {
  const marks = repeatMarks(agents.map((agent) => JSON.stringify([agent.job_id, labelOf(agent)])))
  const names = new Map(agents.map((agent, at) => [agent.benchmark_run_id, `${labelOf(agent)}${marks[at]}`]))
  return (agent) => names.get(agent.benchmark_run_id) ?? labelOf(agent)
}

/** How a side of a comparison is called: by its agent, and by its job where there are several. */
export const sideNames = ({ jobs, agents }: Pick<CompareReport, 'jobs' | 'agents'>): NameOf => {
  const jobNames = new Map(jobs.map(({ id, name }) => [id, name]))
  const name = namesOf(agents)
  return (agent) =>
    jobs.length > 1 ? `${name(agent)} in ${cutPart(jobNames.get(agent.job_id) ?? agent.job_id)}` : name(agent)
}

/** The job of a baseline that is the same agent in another job, which needs not be named again; undefined for the others. */
export const sameElsewhere =
  ({ jobs }: Pick<CompareReport, 'jobs'>) =>
  ({ a, b }: Pick<PairFigures, 'a' | 'b'>): string | undefined => {
    const isSame = a.agent_name === b.agent_name && a.model_name === b.model_name && a.job_id !== b.job_id
    const job = isSame ? jobs.find(({ id }) => id === b.job_id) : undefined
    return job && cutPart(job.name)
  }

/** What is compared with its baseline in the order of a table: the largest loss first. */
export const lossesFirst = (a: PairFigures, b: PairFigures): number =>
  (a.difference ?? Number.MAX_VALUE) - (b.difference ?? Number.MAX_VALUE)

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

/** The order of a table of pairs: each turned, the larger difference first, and those with nop or oracle last. */
export const pairsInOrder = (pairs: readonly PairFigures[]): PairFigures[] => {
  const hasControl = ({ a, b }: PairFigures) => isControl(a.agent_name) || isControl(b.agent_name)
  return pairs
    .map(turned)
    .sort((a, b) => Number(hasControl(a)) - Number(hasControl(b)) || (b.difference ?? -1) - (a.difference ?? -1))
}

/** The order of a table of agents: the highest mean first, and after all others those that check the tasks. */
export const byMean =
  <T>(nameOf: (row: T) => string, figuresOf: (row: T) => { mean: number | null } | null) =>
  (a: T, b: T): number =>
    Number(isControl(nameOf(a))) - Number(isControl(nameOf(b))) || higherFirst(figuresOf(a)?.mean, figuresOf(b)?.mean)

/** What has no mean comes last. A mean may be negative. */
const higherFirst = (a: number | null | undefined, b: number | null | undefined): number =>
  a == null || b == null ? Number(a == null) - Number(b == null) : b - a

/** Scores of a table, differences and the ends of intervals, which are compared by eye. */
export const three = (value: number): string =>
  Number.isNaN(value) ? 'unknown' : value.toFixed(3).replace(/^-(0\.000)$/, '$1')

/** By how much one is ahead of another: what rounds to nothing is still something. */
export const byAmount = (difference: number): string => {
  const shown = three(Math.abs(difference))
  return shown === '0.000' ? 'less than 0.001' : shown
}

export const probability = (p: number): string => (p < 0.0001 ? '< 0.0001' : p.toFixed(4))

export const countOf = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`

/** Of a number that is an estimate two digits are true at best: `about 450 scenarios`. */
export const aboutScenarios = (count: number): string => {
  if (count > mostEstimated) return `more than ${countOf(mostEstimated, 'scenario')}`
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(count)) - 1)
  return `about ${countOf(Math.round(count / unit) * unit, 'scenario')}`
}

/** No benchmark has as many. */
const mostEstimated = 100_000

/** How many scenarios are compared; each counts once for each side. */
export const comparedWords = (compared: number, sides: number): string =>
  sides === 1 ? countOf(compared, 'scenario') : `${countOf(compared, 'scenario')} compared over ${sides} sides`

/** What puts a scenario on each list of changes. */
export const changeRules: Record<Exclude<keyof ComparedPair, keyof PairFigures>, string> = {
  new_failures: 'the baseline passes and the side does not',
  worse: 'the side scores below the baseline, new failures among them',
  new_passes: 'the side passes and the baseline does not',
  better: 'the side scores above the baseline, new passes among them',
  still_failing: 'neither passes, whatever the scores',
  slower: 'the side takes longer by half and by a second at least',
}

/** What makes a scenario pass. */
export const passRule = ({ is_unit_range, threshold }: ScoreScale): string => {
  if (threshold === null) return 'Scores leave the range 0 to 1: no passes are counted unless a pass threshold is set.'
  const score = is_unit_range && threshold === 1 ? '1' : `at least ${threshold}`
  return `A scenario passes where the mean of its attempts is ${score}; in pass@k an attempt passes with a score of ${score}.`
}

export type TrendStep = 'first' | 'regression' | 'possible' | 'better' | 'higher' | 'lower' | 'same' | 'none'

/** What became of an agent since the job before; `none` where that cannot be said. */
export const stepOf = ({ change, regression, figures }: TrendPoint): TrendStep => {
  if (regression) return regression === 'settled' ? 'regression' : 'possible'
  if (!change) return figures.mean === null ? 'none' : 'first'
  if (change.difference === null) return 'none'
  if (change.difference === 0) return 'same'
  if (change.difference < 0) return 'lower'
  return change.settled ? 'better' : 'higher'
}
