import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { withDifferences } from '#lib/protocol/agent-settings.ts'
import { agentsWithRuns, settingsIn } from '#lib/protocol/job-agents.ts'
import { attemptsOf } from '#lib/protocol/job-plan.ts'
import { judgedBy, metricsOf } from '#lib/protocol/metrics.ts'
import type { CompareReport, ReportedJob } from '#lib/protocol/reports.ts'
import { maskingRecord } from '#lib/protocol/secrets.ts'
import type { JudgedAgent } from '#lib/statistics/figures.ts'
import { HttpError } from '../http/handle-request.ts'

export const requireMetric = (job: BenchmarkJob, metric: string | undefined): BenchmarkJob => {
  const metrics = metricsOf(job)
  if (metric === undefined || metrics.includes(metric)) return judgedBy(job, metric)
  const known = metrics.length === 0 ? 'it has none' : `it has ${metrics.slice(0, 20).join(', ')}`
  throw new HttpError('invalid_argument', `${job.name} has no metric ${metric}: ${known}`, { field: 'metric' })
}

export const judgedTogether = (jobs: readonly BenchmarkJob[]): Pick<CompareReport, 'metric' | 'metrics'> => {
  const [first, ...others] = jobs
  const isShared = others.every(({ judged_metric }) => judged_metric === first?.judged_metric)
  return {
    metric: isShared ? (first?.judged_metric ?? null) : null,
    metrics: first ? metricsOf(first).filter((metric) => others.every((job) => metricsOf(job).includes(metric))) : [],
  }
}

export const agentsOf = (job: BenchmarkJob): JudgedAgent[] => agentsOfAll([job])

/** Agents with an outcome; those of the same name and model get what they differ by, between jobs as well. */
export const agentsOfAll = (jobs: readonly BenchmarkJob[]): JudgedAgent[] => {
  const agents = jobs
    .map(withoutSecrets)
    .flatMap((job) =>
      agentsWithRuns(job).flatMap(({ outcome, ...agent }) => (outcome ? [{ ...agent, outcome, job }] : [])),
    )
  const named =
    jobs.length === 1
      ? agents
      : withDifferences(agents, (agent) => {
          const settings = settingsIn(agent.job, agent)
          return settings && { ...settings, reported: { ...settings.reported, ...agent.job.settings } }
        })
  return named.map(({ key: benchmark_run_id, name: agent_name, model: model_name, outcome, job, differs }) => ({
    agent_name,
    model_name,
    benchmark_run_id,
    job_id: job.id,
    ...(differs !== undefined && { differs }),
    n_planned: outcome.n_total_trials,
    metric: job.judged_metric,
    outcomes: outcome.scenario_outcomes.map(({ scenario_definition_id: scenario_id, ...each }) => ({
      ...each,
      scenario_id,
      scenario_name: each.scenario_name.trim() ? each.scenario_name : scenario_id,
    })),
  }))
}

/** Masks settings as pages get them. */
const withoutSecrets = (job: BenchmarkJob): BenchmarkJob => {
  const { agent_configs, kwargs: settings } = finish(
    maskingRecord({ agent_configs: job.job_spec?.agent_configs, kwargs: job.settings }),
  ) as Pick<NonNullable<BenchmarkJob['job_spec']>, 'agent_configs'> & { kwargs: BenchmarkJob['settings'] }
  return { ...job, settings, job_spec: job.job_spec && { ...job.job_spec, agent_configs } }
}

const finish = <T>(steps: Generator<unknown, T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value as T
  }
}

export const isComplete = ({ state, in_progress_runs }: BenchmarkJob): boolean =>
  hasJobEnded(state) && !(in_progress_runs ?? []).some((run) => run.state === 'running')

export const reportedJob = (job: BenchmarkJob): ReportedJob => ({
  id: job.id,
  name: job.name,
  state: job.state,
  create_time_ms: job.create_time_ms,
  planned_scenarios: job.job_spec?.scenario_ids.length ?? null,
  planned_attempts: attemptsOf(job) ?? null,
  metric: job.judged_metric ?? null,
})
