import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { builtInMetrics, metricValue } from '#lib/statistics/metrics.ts'

/** Reward keys of a job in order of appearance, then the built-in metrics that any attempt reports. */
export const metricsOf = ({ metrics, benchmark_outcomes }: BenchmarkJob): string[] => {
  const outcomes = (benchmark_outcomes ?? []).flatMap(({ scenario_outcomes }) => scenario_outcomes)
  return [
    ...(metrics ?? new Set(outcomes.flatMap((each) => rewardsOf(each).map(([name]) => name)))),
    ...builtInMetrics.filter((metric) => outcomes.some((each) => metricValue(each, metric) !== null)),
  ]
}

export const judgedBy = (job: BenchmarkJob, metric: string | undefined): BenchmarkJob => {
  if (metric === undefined || metric === job.judged_metric) return job
  return {
    ...job,
    judged_metric: metric,
    benchmark_outcomes: job.benchmark_outcomes?.map((outcome) => ({
      ...outcome,
      average_score: null,
      scenario_outcomes: outcome.scenario_outcomes.map((each) => ({ ...each, score: metricValue(each, metric) })),
    })),
  }
}

/** Numeric rewards of an outcome, in file order. */
export const rewardsOf = ({ rewards }: Pick<ScenarioOutcome, 'rewards'>): [name: string, value: number][] =>
  Object.entries<unknown>(rewards ?? {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
  )
