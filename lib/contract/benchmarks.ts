import * as z from 'zod/mini'
import { BenchmarkRun, BenchmarkRunFilters, BenchmarkRunList } from './benchmark-runs.ts'
import { ById, Id, Metadata, metadataOperations, openEnum, pageEnvelope, pageQuery, StringMap } from './common.ts'
import { defineEndpoints, json } from './endpoint.ts'
import { listQuery } from './query-string.ts'
import { RunProfile } from './scenario-runs.ts'
import { definitionStatuses, ScenarioList } from './scenarios.ts'

export const Benchmark = z.object({
  id: z.string(),
  name: z.string(),
  metadata: StringMap,
  /** Camel case in the API. */
  scenarioIds: z.array(z.string()),
  status: openEnum(definitionStatuses),
  attribution: z.nullish(z.string()),
  description: z.nullish(z.string()),
  is_public: z.nullish(z.boolean()),
  required_environment_variables: z.nullish(z.array(z.string())),
  required_secret_names: z.nullish(z.array(z.string())),
})
export type Benchmark = z.infer<typeof Benchmark>

const name = z.string().check(z.regex(/\S/, 'must not be blank'), z.maxLength(256, 'must be at most 256 characters'))
const optionalFields = {
  attribution: z.nullish(z.string()),
  description: z.nullish(z.string()),
  metadata: z.nullish(Metadata),
  scenario_ids: z.nullish(z.array(Id)),
  required_environment_variables: z.nullish(z.array(z.string())),
  required_secret_names: z.nullish(z.array(z.string())),
}
export const BenchmarkCreate = z.object({ name, ...optionalFields })
/** Missing or null fields are unchanged; empty ones clear. */
export const BenchmarkUpdate = z.object({ name: z.nullish(name), ...optionalFields })

export const BenchmarkList = z.object({ benchmarks: z.array(Benchmark), ...pageEnvelope })
export type BenchmarkList = z.infer<typeof BenchmarkList>
export const BenchmarkListQuery = z.object(listQuery)
export type BenchmarkListQuery = z.output<typeof BenchmarkListQuery>

export const BenchmarkRunStart = z.object({
  benchmark_id: Id,
  run_name: z.nullish(z.string()),
  metadata: z.nullish(Metadata),
  runProfile: z.nullish(RunProfile),
})
export type BenchmarkRunStart = z.infer<typeof BenchmarkRunStart>

export const benchmarks = defineEndpoints('benchmarks', 'stable', {
  list: { method: 'GET', path: '/v1/benchmarks', query: BenchmarkListQuery, response: json(BenchmarkList) },
  listPublic: {
    method: 'GET',
    path: '/v1/benchmarks/list_public',
    query: BenchmarkListQuery,
    response: json(BenchmarkList),
  },
  create: { method: 'POST', path: '/v1/benchmarks', body: BenchmarkCreate, response: json(Benchmark) },
  ...metadataOperations('/v1/benchmarks'),
  startRun: { method: 'POST', path: '/v1/benchmarks/start_run', body: BenchmarkRunStart, response: json(BenchmarkRun) },
  get: { method: 'GET', path: '/v1/benchmarks/:id', params: ById, response: json(Benchmark) },
  update: {
    method: 'POST',
    path: '/v1/benchmarks/:id',
    params: ById,
    body: BenchmarkUpdate,
    response: json(Benchmark),
  },
  definitions: {
    method: 'GET',
    path: '/v1/benchmarks/:id/definitions',
    params: ById,
    query: z.object(pageQuery),
    response: json(ScenarioList),
  },
  changeScenarios: {
    method: 'POST',
    path: '/v1/benchmarks/:id/scenarios',
    params: ById,
    body: z.object({ scenarios_to_add: z.nullish(z.array(Id)), scenarios_to_remove: z.nullish(z.array(Id)) }),
    response: json(Benchmark),
  },
  archive: { method: 'POST', path: '/v1/benchmarks/:id/archive', params: ById, response: json(Benchmark) },
  unarchive: { method: 'POST', path: '/v1/benchmarks/:id/unarchive', params: ById, response: json(Benchmark) },
  runs: {
    method: 'GET',
    path: '/v1/benchmarks/:id/runs',
    params: ById,
    query: BenchmarkRunFilters,
    response: json(BenchmarkRunList),
  },
})
