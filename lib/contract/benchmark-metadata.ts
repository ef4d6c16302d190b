import { metadataOperations } from './common.ts'
import { defineEndpoints } from './endpoint.ts'

// Apart from the benchmarks, so that a list of runs, which is found by them, does not download what a benchmark is.
export const benchmarkMetadata = defineEndpoints('benchmarks', 'stable', metadataOperations('/v1/benchmarks'))
