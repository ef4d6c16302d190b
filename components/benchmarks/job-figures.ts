import {
  type BenchmarkJob,
  type BenchmarkOutcome,
  type InProgressRun,
  isJobActive,
} from '#lib/contract/benchmark-jobs.ts'
import { benchmarkRunStates } from '#lib/contract/benchmark-runs.ts'
import { agentsWithRuns } from '#lib/protocol/job-agents.ts'
import { attemptsOf, plannedTrials } from '#lib/protocol/job-plan.ts'
import { agentLabel, repeatSuffixes, truncate } from '#lib/protocol/report-words.ts'
import { meanOf } from '#lib/statistics/means.ts'
import { scenarioKey, talliesOf } from '#lib/statistics/tallies.ts'

/** One agent of a job: its run, as far as that has come. */
export interface AgentRow {
  /** By which the figures of a report are known as well. */
  key: string
  name: string
  model: string | null
  runId: string | null
  state: 'pending' | 'running' | 'finished'
  /** Null until something has finished. */
  outcome: BenchmarkOutcome | null
  run: InProgressRun | null
}

/** The agents of a job in the order of its specification, then those that only its runs name. */
export const agentRows = (job: BenchmarkJob): AgentRow[] => {
  const agents = agentsWithRuns(job)
  const specified = job.job_spec?.agent_configs ?? []
  const rows = agents.map(({ place, name, ...agent }): AgentRow & { place: number } => ({
    ...agent,
    name: name || 'Unnamed agent',
    state: stateOf(agent.run),
    place: place ?? specified.length,
  }))
  const state = isJobActive(job.state) ? 'pending' : 'finished'
  for (const [place, { name, model_name: model = null }] of specified.entries())
    if (!agents.some((agent) => agent.place === place))
      rows.push({ key: `pending ${place} ${name}`, name, model, runId: null, state, outcome: null, run: null, place })
  return rows.toSorted((a, b) => a.place - b.place).map(({ place: _, ...row }) => row)
}

/**
 * What tells the agents of a job apart: their models without who provides them, as long as that is enough, and these
 * alone where all agents have one name.
 */
export const shortLabels = (agents: readonly { name: string; model: string | null }[]): string[] => {
  const full = agents.map(agentLabel)
  const marks = repeatSuffixes(full)
  const isEnough = (labels: readonly string[]) => new Set(labels).size === new Set(full).size
  const bare = agents.map(({ name, model }) => ({ name, model: model?.split('/').findLast(Boolean) ?? null }))
  const hasOneName = agents.length > 1 && new Set(agents.map(({ name }) => name)).size === 1
  for (const shorter of [bare, agents]) {
    const models = shorter.flatMap(({ model }) => (model ? truncate(model) : []))
    if (hasOneName && new Set(models).size === agents.length) return models
  }
  const labels = bare.map(agentLabel)
  return (isEnough(labels) ? labels : full).map((label, at) => `${label}${marks[at]}`)
}

/** A run in a state that is not known has not ended, as far as anyone can tell. */
const stateOf = (run: InProgressRun | null) => (run && !endedStates.includes(run.state) ? 'running' : 'finished')

const endedStates: readonly string[] = benchmarkRunStates.filter((state) => state !== 'running')

export interface JobProgress {
  /** Trials that have ended. */
  finished: number
  /** Scenarios times attempts times agents; null where the record does not tell. */
  total: number | null
}

/** How far a job is. */
export const progressOf = (job: BenchmarkJob): JobProgress => {
  const finished = (job.benchmark_outcomes ?? []).reduce((sum, outcome) => sum + outcomeCounts(outcome).total, 0)
  const planned = plannedTrials(job)
  return { finished, total: planned === undefined ? null : Math.max(planned, finished) }
}

export interface OutcomeCounts {
  completed: number
  failed: number
  timedOut: number
  cancelled: number
  /** In a state that is none of these. */
  other: number
  total: number
}

/** How the attempts of an agent ended: as its outcome counts them, and by their states where it does not. */
export const outcomeCounts = (outcome: BenchmarkOutcome): OutcomeCounts => {
  const { n_completed, n_failed, n_timeout, n_canceled, scenario_outcomes } = outcome
  const states: Record<string, number> = {}
  for (const { state } of scenario_outcomes) states[state] = (states[state] ?? 0) + 1
  const told = (count: number | null | undefined, state: string) =>
    typeof count === 'number' && Number.isFinite(count) ? count : (states[state] ?? 0)
  const completed = told(n_completed, 'COMPLETED')
  const failed = told(n_failed, 'FAILED')
  const timedOut = told(n_timeout, 'TIMEOUT')
  const cancelled = told(n_canceled, 'CANCELED')
  const known = completed + failed + timedOut + cancelled
  const total = Math.max(known, scenario_outcomes.length)
  return { completed, failed, timedOut, cancelled, other: total - known, total }
}

export interface AgentScore {
  mean: number | null
  /** What the mean is over, and how many there are. */
  n: number
  of: number
}

/**
 * The score of each agent as the page of its job has it at first: the mean over its scenarios, failures and timeouts
 * counting 0. Of an outcome without attempts it is what the service tells, which is the mean over those that completed.
 */
export const agentScores = (job: BenchmarkJob, agents: readonly AgentRow[]): (AgentScore | null)[] => {
  const sides = agents.map(({ outcome }) => ({
    outcomes: (outcome?.scenario_outcomes ?? []).map((each) => ({ ...each, scenario_id: each.scenario_definition_id })),
  }))
  const keyOf = scenarioKey({ agents: sides, attempts: attemptsOf(job) })
  return agents.map(({ outcome }, at) => {
    const outcomes = sides[at]?.outcomes ?? []
    if (outcome === null) return null
    if (outcomes.length > 0) {
      const tallies = [...talliesOf(outcomes, 'zero', keyOf).values()]
      const means = tallies.flatMap(({ mean }) => mean ?? [])
      return { mean: meanOf(means), n: means.length, of: tallies.length }
    }
    const { completed, total } = outcomeCounts(outcome)
    return { mean: outcome.average_score ?? null, n: completed, of: total }
  })
}

/** `0.67`, with as many digits as tell it apart: "1.00", "0.333". A score that the service told as no number is unknown. */
export const formatScore = (score: number): string =>
  Number.isNaN(score) ? 'unknown' : score.toFixed(score === 0 || score === 1 ? 2 : 3).replace(/^(-?\d\.\d\d)0$/, '$1')

/** A problem of a job file at its place; `line` counts from 1. */
export interface YamlProblem {
  line: number | null
  text: string
}

/** The problems a refusal lists, one to a line of its message, each with the line of the file it is at. */
export const yamlProblems = (message: string): YamlProblem[] =>
  message
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((text) => {
      const at = /\bline (\d+)\b/i.exec(text) ?? /(?:^|\s)(\d+):\d+\b/.exec(text)
      return { line: at?.[1] ? Number(at[1]) : null, text }
    })

/** Ids of the runs of a job that go on. */
export const goingRuns = (job: BenchmarkJob): string[] =>
  (job.in_progress_runs ?? []).flatMap(({ state, benchmark_run_id }) => (state === 'running' ? benchmark_run_id : []))
