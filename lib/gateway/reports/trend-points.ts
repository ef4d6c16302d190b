import { gainOf, type NameOf, truncate } from '#lib/protocol/report-words.ts'
import type { ComparedPair, TrendPoint, TrendReport } from '#lib/protocol/reports.ts'

/** Names the runs of a trend by their job, as they share an agent. */
export const jobNameOf =
  ({ points }: Pick<TrendReport, 'points'>): NameOf =>
  ({ job_id }) =>
    truncate(points.find(({ job }) => job.id === job_id)?.job.name ?? job_id)

/** The points with exclusions ignored; null if there are none. */
export const pointsWithoutExclusions = ({ points, exclusions }: TrendReport): TrendPoint[] | null => {
  const without = exclusions?.without
  if (!without) return null
  return points.map((point) => {
    const isOwn = ({ benchmark_run_id }: { benchmark_run_id: string }) =>
      benchmark_run_id === point.figures.benchmark_run_id
    const change = without.pairs.find(({ a }) => isOwn(a)) ?? null
    return { ...point, figures: without.agents.find(isOwn) ?? point.figures, change, regression: regressionOf(change) }
  })
}

export const regressionOf = (change: ComparedPair | null): TrendPoint['regression'] => {
  const gain = change && gainOf(change)
  if (!change || gain == null || gain >= 0) return null
  if (change.significant) return 'significant'
  // One changed scenario alone moves the mean by one standard error: half of all runs see that by chance.
  return change.se !== null && -gain > change.se * (1 + 1e-9) ? 'possible' : null
}
