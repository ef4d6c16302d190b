import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'

/** Reward keys of a job, in order of first appearance. None where the service's own scorers judged. */
export const metricsOf = ({ metrics, benchmark_outcomes }: BenchmarkJob): string[] =>
  metrics ?? [
    ...new Set(
      (benchmark_outcomes ?? []).flatMap(({ scenario_outcomes }) =>
        scenario_outcomes.flatMap(({ rewards }) => Object.keys(rewards ?? {})),
      ),
    ),
  ]

/** The same job, its scores being those of another metric. */
export const judgedBy = (job: BenchmarkJob, metric: string | undefined): BenchmarkJob => {
  if (metric === undefined || metric === job.judged_metric) return job
  return {
    ...job,
    judged_metric: metric,
    benchmark_outcomes: job.benchmark_outcomes?.map((outcome) => ({
      ...outcome,
      average_score: null,
      scenario_outcomes: outcome.scenario_outcomes.map((each) => ({ ...each, score: rewardOf(each, metric) })),
    })),
  }
}

const rewardOf = ({ rewards }: ScenarioOutcome, metric: string): number | null => {
  const value: unknown = rewards && Object.hasOwn(rewards, metric) ? rewards[metric] : null
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
