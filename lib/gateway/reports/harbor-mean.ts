import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { countOf, namesOf, threeDecimals } from '#lib/protocol/report-words.ts'
import type { Report } from '#lib/protocol/reports.ts'
import type { AgentFigures, AttemptOutcome } from '#lib/statistics/figures.ts'
import { meanOf } from '#lib/statistics/means.ts'
import type { CountingRule } from '#lib/statistics/metrics.ts'
import { countedScore } from '#lib/statistics/tallies.ts'
import { agentsOf } from './judged-job.ts'

const maxNamed = 3

/**
 * One sentence on the means that Harbor prints if they differ from the report's, with the reasons. Harbor averages the rewards
 * of all trials, with 0 for those without a reward. `whole` has all attempts, `counted` those that aren't excluded.
 */
export const harborMean = (
  whole: BenchmarkJob,
  counted: BenchmarkJob,
  { metric, agents }: Pick<Report, 'metric'> & { agents: readonly AgentFigures[] },
  rule: CountingRule,
): string | null => {
  const isHarbor = whole.job_source?.type === 'harbor' || whole.job_source?.type === 'imported'
  if (!isHarbor || metric === null || metric !== whole.judged_metric) return null
  const remaining = new Map(agentsOf(counted).map((agent) => [agent.benchmark_run_id, agent.outcomes]))
  const name = namesOf(agents)
  const differing = agentsOf(whole).flatMap(({ benchmark_run_id, outcomes }) => {
    const figures = agents.find((each) => each.benchmark_run_id === benchmark_run_id)
    if (!figures || outcomes.length === 0) return []
    const printed = threeDecimals(meanOf(outcomes.map(rewardOf)) ?? 0)
    if (figures.mean !== null && threeDecimals(figures.mean) === printed) return []
    const kept = remaining.get(benchmark_run_id) ?? []
    return [
      { text: `${printed} for ${name(figures)}`, kept, excluded: outcomes.length - kept.length, mean: figures.mean },
    ]
  })
  if (differing.length === 0) return null
  const more = differing.length > maxNamed ? [`${differing.length - maxNamed} other means`] : []
  const means = listed([...differing.slice(0, maxNamed).map(({ text }) => text), ...more])
  const trials = differing.flatMap(({ kept }) => kept)
  const excluded = differing.reduce((sum, each) => sum + each.excluded, 0)
  const left = trials.filter((each) => countedScore(each, rule) === undefined)
  const canceled = left.filter(({ state }) => state === 'CANCELED')
  const other = left.filter(({ state }) => state !== 'CANCELED')
  const rewarded = trials.filter((each) => (countedScore(each, rule) ?? rewardOf(each)) !== rewardOf(each))
  const isByTrial = differing.some(({ kept, mean }) => {
    const scores = kept.flatMap((each) => countedScore(each, rule) ?? [])
    const byTrial = meanOf(scores)
    return byTrial !== null && mean !== null && Math.abs(byTrial - mean) > 1e-9
  })
  const reasons = [
    ...(excluded > 0 ? [`counts ${countOf(excluded, 'excluded trial')}`] : []),
    ...(canceled.length > 0 ? [`counts ${countOf(canceled.length, 'canceled trial')}${asZero(canceled)}`] : []),
    ...(other.length > 0 ? [`counts ${countOf(other.length, 'failed trial')}${asZero(other)}`] : []),
    ...(rewarded.length > 0 ? [`counts the rewards of ${countOf(rewarded.length, 'failed trial')}`] : []),
    ...(isByTrial ? ['averages trials instead of scenarios'] : []),
  ]
  return `Harbor prints ${means}: it ${listed(reasons)}.`
}

const rewardOf = ({ score }: AttemptOutcome): number =>
  typeof score === 'number' && Number.isFinite(score) ? score : 0

const asZero = (trials: readonly AttemptOutcome[]): string =>
  trials.every((each) => rewardOf(each) === 0) ? ' as 0' : ''

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
