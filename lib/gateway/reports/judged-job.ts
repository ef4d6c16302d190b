import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import type { JudgedAgent } from '#lib/statistics/figures.ts'
import { identifiedOutcomes } from '#lib/wire/outcome-ids.ts'
import type { ReportedJob } from '#lib/wire/reports.ts'

export const agentsOf = (job: BenchmarkJob): JudgedAgent[] =>
  identifiedOutcomes(job).map(({ agent_name, model_name, benchmark_run_id, scenario_outcomes }) => ({
    agent_name,
    model_name: model_name ?? null,
    benchmark_run_id,
    job_id: job.id,
    outcomes: scenario_outcomes.map(({ scenario_definition_id: scenario_id, ...outcome }) => ({
      ...outcome,
      scenario_id,
      scenario_name: outcome.scenario_name.trim() ? outcome.scenario_name : scenario_id,
    })),
  }))

/** Attempts multiply the trials of a Harbor job, wherever it ran; of the other kinds they count repetitions after a failure. */
export const attemptsOf = ({ job_source, job_spec }: BenchmarkJob): number | undefined => {
  if (job_source?.type === 'harbor' || job_source?.type === 'imported')
    return Math.max(1, job_spec?.orchestrator_config?.n_attempts ?? 1)
  return job_spec ? 1 : undefined
}

/** Of all agents; undefined where the job does not tell. */
export const plannedAttempts = (job: BenchmarkJob): number | undefined =>
  job.job_spec
    ? job.job_spec.scenario_ids.length * job.job_spec.agent_configs.length * (attemptsOf(job) ?? 1)
    : undefined

/** Whether no outcome of it will come any more. */
export const isComplete = ({ state, in_progress_runs }: BenchmarkJob): boolean =>
  hasJobEnded(state) && !(in_progress_runs ?? []).some((run) => run.state === 'running')

export const reportedJob = (job: BenchmarkJob): ReportedJob => ({
  id: job.id,
  name: job.name,
  state: job.state,
  create_time_ms: job.create_time_ms,
  planned_scenarios: job.job_spec?.scenario_ids.length ?? null,
  planned_attempts: attemptsOf(job) ?? null,
})
