import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { judgmentStore } from '../judgment/marks.ts'
import { slot } from '../registry/registry.ts'

const maxReports = 24

const reportCache = slot('reportCache', () => ({
  reports: new Map<string, Promise<unknown>>(),
  versions: new WeakMap<BenchmarkJob, number>(),
  lastVersion: 0,
}))

/**
 * Computes a report once for the same query, jobs and marks, also for concurrent requests. `jobs` must be read for this request:
 * an unchanged job is the same object. Reports are shared, so they must not be modified.
 */
export const cachedReport = <R>(
  account: string,
  query: object,
  jobs: readonly BenchmarkJob[],
  compute: () => Promise<R>,
): Promise<R> => {
  const cache = reportCache()
  const versions = jobs.map((job) => {
    const version = cache.versions.get(job) ?? ++cache.lastVersion
    cache.versions.set(job, version)
    return version
  })
  const key = JSON.stringify([account, query, versions, judgmentStore().version])
  const report = (cache.reports.get(key) as Promise<R> | undefined) ?? compute()
  cache.reports.delete(key)
  cache.reports.set(key, report)
  report.catch(() => cache.reports.delete(key))
  for (const oldest of cache.reports.keys()) {
    if (cache.reports.size <= maxReports) break
    cache.reports.delete(oldest)
  }
  return report
}
