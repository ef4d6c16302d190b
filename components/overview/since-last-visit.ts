import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'

/** When somebody looked before. */
export interface Visit {
  ms: number
}

const dayMs = 24 * 3_600_000

/**
 * On a first visit, of the day before it was read: what is older is history. Not of the day before now: the browser takes
 * over what the server drew a little earlier, by another clock.
 */
const sinceOf = (visit: Visit | null, readMs: number) => visit?.ms ?? readMs - dayMs

type Ended = Pick<Devbox, 'id' | 'name' | 'status' | 'create_time_ms' | 'end_time_ms'>

export const failedSince = <Row extends Ended>(devboxes: readonly Row[], visit: Visit | null, readMs: number): Row[] =>
  devboxes.filter(
    ({ status, end_time_ms, create_time_ms }) =>
      status === 'failure' && (end_time_ms ?? create_time_ms) >= sinceOf(visit, readMs),
  )

type Job = Pick<BenchmarkJob, 'id' | 'name' | 'state' | 'create_time_ms' | 'benchmark_outcomes'>

/**
 * Jobs that failed or timed out. The record of a job does not say when it ended: it cannot have been before its longest
 * run was over.
 */
export const brokenSince = <Row extends Job>(jobs: readonly Row[], visit: Visit | null, readMs: number): Row[] =>
  jobs.filter((job) => {
    if (!['failed', 'timeout'].includes(job.state)) return false
    const longestMs = Math.max(0, ...(job.benchmark_outcomes ?? []).map(({ duration_ms }) => duration_ms ?? 0))
    return (job.create_time_ms ?? 0) + longestMs >= sinceOf(visit, readMs)
  })
