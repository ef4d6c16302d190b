import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { agentsWithRuns } from './job-agents.ts'

/**
 * Attempts each agent has at a scenario; undefined where the job does not report it. They multiply the trials of a Harbor
 * job, wherever it ran; of the other kinds `n_attempts` counts repetitions after a failure, which leave one outcome.
 */
export const attemptsOf = ({ job_source, job_spec }: BenchmarkJob): number | undefined => {
  if (job_source?.type === 'harbor' || job_source?.type === 'imported')
    return Math.max(1, job_spec?.orchestrator_config?.n_attempts ?? 1)
  return job_spec ? 1 : undefined
}

/** Trials of all agents, including those that never ran; undefined where the job does not report it. */
export const plannedTrials = (job: BenchmarkJob): number | undefined => {
  const spec = job.job_spec
  // A specification without scenarios reports as little as none.
  const each = spec && spec.scenario_ids.length > 0 ? spec.scenario_ids.length * (attemptsOf(job) ?? 1) : undefined
  const agents = agentsWithRuns(job)
  const places = new Set(agents.map(({ place }) => place))
  const pending = (spec?.agent_configs ?? []).filter((_, place) => !places.has(place)).length
  const reported = new Set(agents.map(({ outcome }) => outcome?.n_total_trials ?? each))
  const planned = [
    ...agents.map(({ outcome }) => outcome?.n_total_trials ?? each),
    // All agents have the same tasks, of which an incomplete job may know only some.
    ...Array.from({ length: pending }, () => (reported.size === 1 ? [...reported][0] : each)),
  ]
  if (planned.length === 0) return each
  return planned.reduce((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count))
}
