import { formatDurationMs } from '#lib/console/frame/format.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { formatCount } from '#lib/language/translate.ts'
import { etaRange } from '#lib/statistics/durations.ts'
import { type AgentRow, progressOf } from '../job-figures.ts'

/** Trials of a job of the local service that run at a time, where it does not say. */
const usualConcurrency = 4

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
  const { ended, left, slots } = eta
  return `${etaBrief(job, agents)}, if the other ${formatCount(left)} take as long as the ${formatCount(ended)} that have ended, ${formatCount(slots)} at a time`
}

/** A sentence where there is no estimate. */
const etaOf = (job: BenchmarkJob, agents: readonly AgentRow[]) => {
  const { finished, total } = progressOf(job)
  if (total === null) return 'The job does not tell how many trials there will be.'
  if (finished >= total) return 'The last trials are being closed.'
  const durations = agents.flatMap(({ outcome }) =>
    (outcome?.scenario_outcomes ?? []).flatMap(({ duration_ms }) => duration_ms ?? []),
  )
  const slots = job.job_spec?.orchestrator_config?.n_concurrent_trials ?? usualConcurrency
  const eta = etaRange(total - finished, slots, durations)
  if (!eta) return 'No estimate before the first trial has ended.'
  return { ...eta, slots, left: total - finished, ended: durations.length }
}
