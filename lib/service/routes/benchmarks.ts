import { benchmarks } from '#lib/contract/benchmarks.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const benchmarkRoutes = () => implement(benchmarks, { metadataValues: notImplemented })
