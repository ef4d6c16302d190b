import { benchmarkRuns } from '#lib/contract/benchmark-runs.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const benchmarkRunRoutes = () =>
  implement(benchmarkRuns, {
    list: notImplemented,
    get: notImplemented,
    scenarioRuns: notImplemented,
    complete: notImplemented,
    cancel: notImplemented,
    downloadLogs: notImplemented,
  })
