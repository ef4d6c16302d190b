import { useEffect, useState } from 'react'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'

export interface Visit {
  ms: number
}

const key = 'devdeck.last-visit'
/** Reloads within this time belong to the same visit. */
const sameVisitMs = 10 * 60_000

/** When this browser last showed the overview before this visit; null on the first visit. */
export const useLastVisit = (): Visit | null => {
  const [visit, setVisit] = useState<Visit | null>(null)
  useEffect(() => {
    try {
      const { ms, beforeMs } = JSON.parse(localStorage.getItem(key) ?? '{}') as { ms?: number; beforeMs?: number }
      const isSame = ms !== undefined && Date.now() - ms < sameVisitMs
      const before = isSame ? beforeMs : ms
      if (before !== undefined) setVisit({ ms: before })
      localStorage.setItem(key, JSON.stringify({ ms: Date.now(), beforeMs: before }))
    } catch {
      // Without storage every visit is the first.
    }
  }, [])
  return visit
}

const dayMs = 24 * 3_600_000

/** A first visit covers the day before the data was fetched; the fetch time keeps server and browser renders equal. */
const sinceOf = (visit: Visit | null, fetchedMs: number) => visit?.ms ?? fetchedMs - dayMs

type Ended = Pick<Devbox, 'id' | 'name' | 'status' | 'create_time_ms' | 'end_time_ms'>

export const failedDevboxes = <Row extends Ended>(
  devboxes: readonly Row[],
  visit: Visit | null,
  fetchedMs: number,
): Row[] =>
  devboxes.filter(
    ({ status, end_time_ms, create_time_ms }) =>
      status === 'failure' && (end_time_ms ?? create_time_ms) >= sinceOf(visit, fetchedMs),
  )

type Job = Pick<BenchmarkJob, 'id' | 'name' | 'state' | 'create_time_ms' | 'benchmark_outcomes'>

/** Jobs that failed or timed out. A job has no end time, so its longest run stands in for it. */
export const failedJobs = <Row extends Job>(jobs: readonly Row[], visit: Visit | null, fetchedMs: number): Row[] =>
  jobs.filter((job) => {
    if (!['failed', 'timeout'].includes(job.state)) return false
    const longestMs = Math.max(0, ...(job.benchmark_outcomes ?? []).map(({ duration_ms }) => duration_ms ?? 0))
    return (job.create_time_ms ?? 0) + longestMs >= sinceOf(visit, fetchedMs)
  })
