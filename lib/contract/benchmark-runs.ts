import * as z from 'zod/mini'
import { ById, EpochMs, openEnum, StringMap } from './common.ts'
import { bytes, defineEndpoint, json } from './endpoint.ts'

export const benchmarkRunStates = ['running', 'canceled', 'completed', 'failed'] as const

export const BenchmarkRun = z.object({
  id: z.string(),
  start_time_ms: EpochMs,
  state: openEnum(benchmarkRunStates),
  metadata: StringMap,
  benchmark_id: z.nullish(z.string()),
  name: z.nullish(z.string()),
  duration_ms: z.nullish(z.int()),
  /** Sum of the scenario scores divided by the number of scenario runs; present once completed. */
  score: z.nullish(z.number()),
  purpose: z.nullish(z.string()),
  environment_variables: z.nullish(StringMap),
  /** Environment variable name to the name of a secret. */
  secrets_provided: z.nullish(StringMap),
})
export type BenchmarkRun = z.infer<typeof BenchmarkRun>

export const benchmarkRuns = {
  cancel: defineEndpoint({
    id: 'benchmarkRuns.cancel',
    method: 'POST',
    path: '/v1/benchmarks/runs/:id/cancel',
    params: ById,
    response: json(BenchmarkRun),
    stability: 'stable',
    summary: 'Cancel a running benchmark run, its scenarios and their devboxes',
  }),
  downloadLogs: defineEndpoint({
    id: 'benchmarkRuns.downloadLogs',
    method: 'POST',
    path: '/v1/benchmark_runs/:id/download_logs',
    params: ById,
    response: bytes('application/zip'),
    stability: 'stable',
    summary: 'Download a zip of all logs of a benchmark run',
  }),
}
