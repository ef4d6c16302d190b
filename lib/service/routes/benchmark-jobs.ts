import { benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const benchmarkJobRoutes = () =>
  implement(benchmarkJobs, {
    list: notImplemented,
    create: notImplemented,
    get: notImplemented,
  })
