import * as z from 'zod/mini'
import { RunUsage } from './agent-usage.ts'
import { ById, EpochMs, Id, openEnum, pageEnvelope, StringMap, sortQuery } from './common.ts'
import { bytes, defineEndpoints, get, json, post } from './endpoint.ts'
import { listQuery } from './query-string.ts'
import { ScenarioRunFilters, ScenarioRunList } from './scenario-runs.ts'

export const benchmarkRunStates = ['running', 'canceled', 'completed', 'failed'] as const
export type BenchmarkRunState = (typeof benchmarkRunStates)[number]

export const BenchmarkRun = z.object({
  id: z.string(),
  /** Unspecified: null if unknown, as for imported runs without times. */
  start_time_ms: z.nullable(EpochMs),
  state: openEnum(benchmarkRunStates),
  metadata: StringMap,
  benchmark_id: z.nullish(z.string()),
  name: z.nullish(z.string()),
  duration_ms: z.nullish(z.int()),
  /** Sum of the scenario scores divided by `n_scenario_runs`. Set once completed. */
  score: z.nullish(z.number()),
  purpose: z.nullish(z.string()),
  environment_variables: z.nullish(StringMap),
  secrets_provided: z.nullish(StringMap),
  n_scenario_runs: z.nullish(z.int()),
  n_total_trials: z.nullish(z.int()),
  job_id: z.nullish(z.string()),
  agent_name: z.nullish(z.string()),
  model_name: z.nullish(z.string()),
  usage: z.nullish(RunUsage),
})
export type BenchmarkRun = z.infer<typeof BenchmarkRun>

export const BenchmarkRunList = z.object({ runs: z.array(BenchmarkRun), ...pageEnvelope })
export type BenchmarkRunList = z.infer<typeof BenchmarkRunList>

const filters = {
  state: z.optional(z.enum(benchmarkRunStates, `must be one of ${benchmarkRunStates.join(', ')}`)),
  ...listQuery,
}
export const BenchmarkRunFilters = z.object(filters)
export const BenchmarkRunListQuery = z.object({
  benchmark_id: z.optional(Id),
  ...sortQuery(['name', 'state', 'id', 'score', 'agent_name', 'duration_ms', 'start_time_ms']),
  ...filters,
})
export type BenchmarkRunListQuery = z.output<typeof BenchmarkRunListQuery>

export type BenchmarkRunAction = 'cancel' | 'complete'
/** Returns why `state` does not allow `action`, or null. Canceling twice is not an error. */
export const benchmarkRunRefusal = (action: BenchmarkRunAction, state: string): string | null =>
  state === 'running' || (action === 'cancel' && state === 'canceled')
    ? null
    : `The run is ${state}; it needs to be running`

// Clients use both forms of these paths; the specified one comes first.
export const benchmarkRuns = defineEndpoints('benchmarkRuns', 'stable', {
  list: get('/v1/benchmark_runs', json(BenchmarkRunList), {
    aliases: ['/v1/benchmarks/runs'],
    query: BenchmarkRunListQuery,
  }),
  get: get('/v1/benchmark_runs/:id', json(BenchmarkRun), { aliases: ['/v1/benchmarks/runs/:id'], params: ById }),
  scenarioRuns: get('/v1/benchmark_runs/:id/scenario_runs', json(ScenarioRunList), {
    aliases: ['/v1/benchmarks/runs/:id/scenario_runs'],
    params: ById,
    query: ScenarioRunFilters,
  }),
  complete: post('/v1/benchmark_runs/:id/complete', json(BenchmarkRun), {
    aliases: ['/v1/benchmarks/runs/:id/complete'],
    params: ById,
  }),
  cancel: post('/v1/benchmarks/runs/:id/cancel', json(BenchmarkRun), {
    aliases: ['/v1/benchmark_runs/:id/cancel'],
    params: ById,
  }),
  downloadLogs: post('/v1/benchmark_runs/:id/download_logs', bytes('application/zip'), {
    aliases: ['/v1/benchmarks/runs/:id/download_logs'],
    params: ById,
  }),
})
