import { scenarioRuns } from '#lib/contract/scenario-runs.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const scenarioRunRoutes = () =>
  implement(scenarioRuns, {
    start: notImplemented,
    list: notImplemented,
    get: notImplemented,
    score: notImplemented,
    complete: notImplemented,
    cancel: notImplemented,
    downloadLogs: notImplemented,
    ofScenario: notImplemented,
  })
