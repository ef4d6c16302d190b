import { benchmarks } from '#lib/contract/benchmarks.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const benchmarkRoutes = () =>
  implement(benchmarks, {
    list: notImplemented,
    listPublic: notImplemented,
    create: notImplemented,
    metadataKeys: notImplemented,
    metadataValues: notImplemented,
    startRun: notImplemented,
    get: notImplemented,
    update: notImplemented,
    definitions: notImplemented,
    changeScenarios: notImplemented,
    archive: notImplemented,
    unarchive: notImplemented,
    runs: notImplemented,
  })
