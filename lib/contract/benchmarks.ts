import * as z from 'zod/mini'
import { BenchmarkRun, BenchmarkRunFilters, BenchmarkRunList } from './benchmark-runs.ts'
import {
  ById,
  Id,
  Metadata,
  metadataOperations,
  openEnum,
  pageEnvelope,
  pageQuery,
  StringMap,
  sortQuery,
} from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'
import { listQuery } from './query-string.ts'
import { RunProfile } from './scenario-runs.ts'
import { definitionStatuses, ScenarioList } from './scenarios.ts'

export const Benchmark = z.object({
  id: z.string(),
  name: z.string(),
  metadata: StringMap,
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
export const BenchmarkListQuery = z.object({ ...sortQuery(['name', 'status', 'id']), ...listQuery })
export type BenchmarkListQuery = z.output<typeof BenchmarkListQuery>

export const BenchmarkRunStart = z.object({
  benchmark_id: Id,
  run_name: z.nullish(z.string()),
  metadata: z.nullish(Metadata),
  runProfile: z.nullish(RunProfile),
})
export type BenchmarkRunStart = z.infer<typeof BenchmarkRunStart>

export const benchmarks = defineEndpoints('benchmarks', 'stable', {
  list: get('/v1/benchmarks', json(BenchmarkList), { query: BenchmarkListQuery }),
  listPublic: get('/v1/benchmarks/list_public', json(BenchmarkList), { query: BenchmarkListQuery }),
  create: post('/v1/benchmarks', json(Benchmark), { body: BenchmarkCreate }),
  ...metadataOperations('/v1/benchmarks'),
  startRun: post('/v1/benchmarks/start_run', json(BenchmarkRun), { body: BenchmarkRunStart }),
  get: get('/v1/benchmarks/:id', json(Benchmark), { params: ById }),
  update: post('/v1/benchmarks/:id', json(Benchmark), { params: ById, body: BenchmarkUpdate }),
  definitions: get('/v1/benchmarks/:id/definitions', json(ScenarioList), { params: ById, query: z.object(pageQuery) }),
  changeScenarios: post('/v1/benchmarks/:id/scenarios', json(Benchmark), {
    params: ById,
    body: z.object({ scenarios_to_add: z.nullish(z.array(Id)), scenarios_to_remove: z.nullish(z.array(Id)) }),
  }),
  archive: post('/v1/benchmarks/:id/archive', json(Benchmark), { params: ById }),
  unarchive: post('/v1/benchmarks/:id/unarchive', json(Benchmark), { params: ById }),
  runs: get('/v1/benchmarks/:id/runs', json(BenchmarkRunList), { params: ById, query: BenchmarkRunFilters }),
})
