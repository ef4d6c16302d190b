import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { attemptsOf } from '#lib/protocol/job-plan.ts'
import { etaRange } from '#lib/statistics/means.ts'
import { durationsOf } from '#lib/statistics/tallies.ts'
import { type AgentRow, outcomeCounts, progressOf } from '../job-figures.ts'

/** Trials that run at a time, where a job does not say. */
const usualConcurrency = ({ job_source }: BenchmarkJob) => (job_source?.type === 'harbor' ? 4 : 1)

/** The same in a few words, for a line among others. */
export const etaBrief = (job: BenchmarkJob, agents: readonly AgentRow[]): string => {
  const eta = etaOf(job, agents)
  if (typeof eta === 'string') return 'no estimate yet'
  const [low, high] = [formatDurationMs(eta.fluid), formatDurationMs(eta.waves)]
  return low === high ? `about ${low} left` : `${low} to ${high} left`
}

/** When the rest may be done, if it takes as long as what is done: with slots always full, and in waves. */
export const etaWords = (job: BenchmarkJob, agents: readonly AgentRow[]): string => {
  const eta = etaOf(job, agents)
  if (typeof eta === 'string') return eta
  const { ended, left, slots, dropped } = eta
  const without = dropped > 0 ? `; ${formatCount(dropped)} of a run that has ended never begin` : ''
  return `${etaBrief(job, agents)}, if the other ${formatCount(left)} take as long as the ${formatCount(ended)} that have ended, ${formatCount(slots)} at a time${without}`
}

/** A sentence where there is no estimate. */
const etaOf = (job: BenchmarkJob, agents: readonly AgentRow[]) => {
  const { finished, total } = progressOf(job)
  if (total === null) return 'The job does not report how many trials there are.'
  const dropped = droppedOf(job, agents)
  const left = total - finished - dropped
  if (left <= 0) return 'The last trials are being closed.'
  const durations = durationsOf(agents.flatMap(({ outcome }) => outcome?.scenario_outcomes ?? []))
  const slots = job.job_spec?.orchestrator_config?.n_concurrent_trials ?? usualConcurrency(job)
  const eta = etaRange(left, slots, durations)
  if (!eta && finished > 0) return 'No estimate: the trials do not report their durations.'
  if (!eta) return 'No estimate before the first trial has ended.'
  return { ...eta, slots, left, dropped, ended: durations.length }
}

/** Trials that never begin: of runs that were cancelled, or failed, where the service tells which go on. */
const droppedOf = (job: BenchmarkJob, agents: readonly AgentRow[]): number => {
  if (!job.in_progress_runs?.length) return 0
  const each = (job.job_spec?.scenario_ids.length ?? 0) * (attemptsOf(job) ?? 1)
  const ended = agents.filter(({ state }) => state === 'finished')
  return ended.reduce((sum, { outcome }) => sum + Math.max(0, each - (outcome ? outcomeCounts(outcome).total : 0)), 0)
}
