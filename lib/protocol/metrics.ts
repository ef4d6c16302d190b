import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'

/** Reward keys of a job in order of appearance; empty if the service's own scorers were used. */
export const metricsOf = ({ metrics, benchmark_outcomes }: BenchmarkJob): string[] =>
  metrics ?? [
    ...new Set(
      (benchmark_outcomes ?? []).flatMap(({ scenario_outcomes }) =>
        scenario_outcomes.flatMap((each) => rewardsOf(each).map(([name]) => name)),
      ),
    ),
  ]

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

const rewardOf = (outcome: ScenarioOutcome, metric: string): number | null =>
  rewardsOf(outcome).find(([name]) => name === metric)?.[1] ?? null

/** Numeric rewards of an outcome, in file order. */
export const rewardsOf = ({ rewards }: Pick<ScenarioOutcome, 'rewards'>): [name: string, value: number][] =>
  Object.entries<unknown>(rewards ?? {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
  )
