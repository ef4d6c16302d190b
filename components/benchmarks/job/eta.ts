import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { attemptsOf } from '#lib/protocol/job-plan.ts'
import { etaRange } from '#lib/statistics/means.ts'
import { durationsOf } from '#lib/statistics/tallies.ts'
import { type AgentRow, outcomeCounts, progressOf } from '../job-figures.ts'

const defaultConcurrency = ({ job_source }: BenchmarkJob) => (job_source?.type === 'harbor' ? 4 : 1)

export const shortEta = (job: BenchmarkJob, agents: readonly AgentRow[]): string => {
  const eta = etaOf(job, agents)
  if (typeof eta === 'string') return 'no estimate yet'
  const [low, high] = [formatDurationMs(eta.fluid), formatDurationMs(eta.waves)]
  return low === high ? `about ${low} left` : `${low} to ${high} left`
}

export const etaText = (job: BenchmarkJob, agents: readonly AgentRow[]): string => {
  const eta = etaOf(job, agents)
  if (typeof eta === 'string') return eta
  const { ended, left, slots, dropped } = eta
  const without = dropped > 0 ? `; ${formatCount(dropped)} of finished runs will never start` : ''
  return `${shortEta(job, agents)}, if the remaining ${formatCount(left)} take as long as the ${formatCount(ended)} finished, ${formatCount(slots)} at a time${without}`
}

/** Returns a sentence if there is no estimate. */
const etaOf = (job: BenchmarkJob, agents: readonly AgentRow[]) => {
  const { finished, total } = progressOf(job)
  if (total === null) return 'The job does not report its number of trials.'
  const dropped = droppedOf(job, agents)
  const left = total - finished - dropped
  if (left <= 0) return 'The last trials are finishing.'
  const durations = durationsOf(agents.flatMap(({ outcome }) => outcome?.scenario_outcomes ?? []))
  const slots = job.job_spec?.orchestrator_config?.n_concurrent_trials ?? defaultConcurrency(job)
  const eta = etaRange(left, slots, durations)
  if (!eta && finished > 0) return 'No estimate: trials do not report durations.'
  if (!eta) return 'No estimate until the first trial ends.'
  return { ...eta, slots, left, dropped, ended: durations.length }
}

/** Trials that never start because their run was canceled or failed. */
const droppedOf = (job: BenchmarkJob, agents: readonly AgentRow[]): number => {
  if (!job.in_progress_runs?.length) return 0
  const each = (job.job_spec?.scenario_ids.length ?? 0) * (attemptsOf(job) ?? 1)
  const ended = agents.filter(({ state }) => state === 'finished')
  return ended.reduce((sum, { outcome }) => sum + Math.max(0, each - (outcome ? outcomeCounts(outcome).total : 0)), 0)
}
