import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const benchmarkRunRoutes = () =>
  implement(benchmarkRuns, { cancel: notImplemented, downloadLogs: notImplemented })
