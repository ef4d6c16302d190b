import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { agentsWithRuns } from './job-agents.ts'

/** Attempts per agent and scenario. Outside Harbor, `n_attempts` counts retries after a failure, which leave one outcome. */
export const attemptsOf = ({ job_source, job_spec }: BenchmarkJob): number | undefined => {
  if (job_source?.type === 'harbor' || job_source?.type === 'imported')
    return Math.max(1, job_spec?.orchestrator_config?.n_attempts ?? 1)
  return job_spec ? 1 : undefined
}

/** Planned trials of an agent that doesn't report them. */
export const trialsPerAgent = (job: BenchmarkJob): number | undefined => {
  const scenarios = job.job_spec?.scenario_ids.length ?? 0
  return scenarios > 0 ? scenarios * (attemptsOf(job) ?? 1) : undefined
}

/** Planned trials of all agents; undefined if the job does not report them. */
export const plannedTrials = (job: BenchmarkJob): number | undefined => {
  const each = trialsPerAgent(job)
  const agents = agentsWithRuns(job)
  const places = new Set(agents.map(({ place }) => place))
  const pending = (job.job_spec?.agent_configs ?? []).filter((_, place) => !places.has(place)).length
  const reported = new Set(agents.map(({ outcome }) => outcome?.n_total_trials ?? each))
  const planned = [
    ...agents.map(({ outcome }) => outcome?.n_total_trials ?? each),
    // All agents get the same tasks, but an incomplete job may not list them all.
    ...Array.from({ length: pending }, () => (reported.size === 1 ? [...reported][0] : each)),
  ]
  if (planned.length === 0) return each
  return planned.reduce((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count))
}
