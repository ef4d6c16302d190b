import { scenarios } from '#lib/contract/scenarios.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const scenarioRoutes = () =>
  implement(scenarios, {
    list: notImplemented,
    listPublic: notImplemented,
    create: notImplemented,
    metadataKeys: notImplemented,
    metadataValues: notImplemented,
    listScorers: notImplemented,
    createScorer: notImplemented,
    getScorer: notImplemented,
    updateScorer: notImplemented,
    get: notImplemented,
    update: notImplemented,
    archive: notImplemented,
    unarchive: notImplemented,
  })
