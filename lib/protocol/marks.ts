import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { trialsPerAgent } from './job-plan.ts'
import { identifiedOutcomes } from './outcome-ids.ts'

export const exclusionReasons = ['broken_task', 'infrastructure', 'other'] as const
export type ExclusionReason = (typeof exclusionReasons)[number]

export const reasonLabels: Record<ExclusionReason, string> = {
  broken_task: 'Broken task',
  infrastructure: 'Infrastructure',
  other: 'Other',
}

/** Outcomes that people excluded from all figures of a job, with the reason. */
export interface Exclusion {
  id: string
  job_id: string
  scenario_id: string
  scenario_name: string
  /** Null: all attempts of the scenario, by every agent. */
  attempt_id: string | null
  reason: ExclusionReason
  note: string
  by: string
  at_ms: number
}

export interface RemovedExclusion extends Exclusion {
  removed_by: string
  removed_at_ms: number
}

/** Text that people attached to an attempt. Doesn't affect any figure. */
export interface Label {
  id: string
  job_id: string
  scenario_id: string
  scenario_name: string
  attempt_id: string
  label: string
  note: string
  by: string
  at_ms: number
}

export interface ExclusionList {
  exclusions: readonly Exclusion[]
  /** Removed exclusions, most recently removed first. */
  history: readonly RemovedExclusion[]
}

export interface LabelList {
  labels: readonly Label[]
}

export const markLimits = {
  /** Exclusions, and as many labels, per account. */
  perAccount: 10_000,
  perRequest: 1_000,
  noteLength: 1_000,
  labelLength: 60,
} as const

export interface IdentifiedAttempt {
  attempt_id: string
  benchmark_run_id: string
  scenario_id: string
  scenario_name: string
  /** Place among the attempts of the same agent and scenario, from 1. */
  position: number
}

const attemptIdOf = (
  runId: string,
  { scenario_run_id, scenario_definition_id, attempt }: ScenarioOutcome,
  position: number,
): string => scenario_run_id || `${runId} ${scenario_definition_id} ${attempt ?? position}`

/** Attempts of a job by agent, in the order of its outcomes. */
export const identifiedAttempts = (job: BenchmarkJob): IdentifiedAttempt[][] =>
  identifiedOutcomes(job).map(({ benchmark_run_id, scenario_outcomes }) => {
    const counts = new Map<string, number>()
    return scenario_outcomes.map((outcome) => {
      const { scenario_definition_id: scenario_id, scenario_name } = outcome
      const position = (counts.get(scenario_id) ?? 0) + 1
      counts.set(scenario_id, position)
      const attempt_id = attemptIdOf(benchmark_run_id, outcome, position)
      return { attempt_id, benchmark_run_id, scenario_id, scenario_name: scenario_name.trim() || scenario_id, position }
    })
  })

type Exclusions = readonly Pick<Exclusion, 'job_id' | 'scenario_id' | 'attempt_id'>[]

/** A scenario is excluded in every job, whichever job the exclusion was made in; an attempt only in its own. */
export const exclusionTest = (exclusions: Exclusions, jobId: string): ((attempt: IdentifiedAttempt) => boolean) => {
  const scenarios = new Set(exclusions.flatMap((each) => (each.attempt_id === null ? [each.scenario_id] : [])))
  const attempts = new Set(exclusions.flatMap((each) => (each.job_id === jobId ? [each.attempt_id] : [])))
  return ({ scenario_id, attempt_id }) => scenarios.has(scenario_id) || attempts.has(attempt_id)
}

/** The job as if excluded attempts had never been planned. Attempts keep their IDs. */
export const withoutExcluded = (job: BenchmarkJob, exclusions: Exclusions): BenchmarkJob => {
  const isExcluded = exclusionTest(exclusions, job.id)
  const attempts = identifiedAttempts(job)
  if (!attempts.flat().some(isExcluded)) return job
  const planned = trialsPerAgent(job)
  return {
    ...job,
    benchmark_outcomes: job.benchmark_outcomes?.map((outcome, agent) => {
      const own = attempts[agent] ?? []
      const removed = own.filter(isExcluded).length
      if (removed === 0) return outcome
      const total = outcome.n_total_trials ?? planned
      return {
        ...outcome,
        average_score: null,
        n_total_trials: total === undefined ? total : total - removed,
        scenario_outcomes: outcome.scenario_outcomes.flatMap((each, at) => {
          const attempt = own[at]
          return attempt && isExcluded(attempt) ? [] : [{ ...each, attempt: each.attempt ?? attempt?.position }]
        }),
      }
    }),
  }
}
