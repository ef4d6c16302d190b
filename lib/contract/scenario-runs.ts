import * as z from 'zod/mini'
import { ById, EpochMs, Id, Metadata, openEnum, pageEnvelope, StringMap } from './common.ts'
import { bytes, defineEndpoints, get, json, post } from './endpoint.ts'
import { LaunchParameters } from './launch-parameters.ts'
import { listQuery } from './query-string.ts'

export const scenarioRunStates = ['running', 'scoring', 'scored', 'completed', 'canceled', 'timeout', 'failed'] as const
export type ScenarioRunState = (typeof scenarioRunStates)[number]

const ended: readonly string[] = ['completed', 'canceled', 'timeout', 'failed']
export const hasScenarioRunEnded = (state: string): boolean => ended.includes(state)

export type ScenarioRunAction = 'score' | 'complete' | 'cancel'
const allowedIn: Record<ScenarioRunAction, readonly string[]> = {
  score: ['running', 'scored'],
  complete: ['running', 'scored'],
  cancel: ['running', 'scoring', 'scored'],
}
export const scenarioRunRefusal = (action: ScenarioRunAction, state: string): string | null =>
  allowedIn[action].includes(state)
    ? null
    : `The scenario run is ${state}; it needs to be ${allowedIn[action].join(' or ')}`

export const ScoringResult = z.object({
  /** Weighted sum from 0 to 1. For a Harbor trial: the judged reward, which may be any number. */
  score: z.number(),
  /** One per scorer. For a Harbor trial: one per reward key, in file order. */
  scoring_function_results: z.array(
    z.object({
      scoring_function_name: z.string(),
      score: z.number(),
      output: z.string(),
      state: openEnum(['unknown', 'complete', 'error']),
    }),
  ),
})
export type ScoringResult = z.infer<typeof ScoringResult>

export const ScenarioRun = z.object({
  id: z.string(),
  devbox_id: z.string(),
  scenario_id: z.string(),
  metadata: StringMap,
  state: openEnum(scenarioRunStates),
  benchmark_run_id: z.nullish(z.string()),
  name: z.nullish(z.string()),
  purpose: z.nullish(z.string()),
  start_time_ms: z.nullish(EpochMs),
  duration_ms: z.nullish(z.int()),
  environment_variables: z.nullish(StringMap),
  secrets_provided: z.nullish(StringMap),
  scoring_contract_result: z.nullish(ScoringResult),
  /** Extension: retries after failures, for a trial of a job. */
  n_retries: z.nullish(z.int()),
})
export type ScenarioRun = z.infer<typeof ScenarioRun>

export const ScenarioRunList = z.object({ runs: z.array(ScenarioRun), ...pageEnvelope })
export type ScenarioRunList = z.infer<typeof ScenarioRunList>

const filters = {
  state: z.optional(z.enum(scenarioRunStates, `must be one of ${scenarioRunStates.join(', ')}`)),
  ...listQuery,
}
export const ScenarioRunListQuery = z.object({
  benchmark_run_id: z.optional(Id),
  scenario_id: z.optional(Id),
  ...filters,
})
export type ScenarioRunListQuery = z.output<typeof ScenarioRunListQuery>
export const ScenarioRunFilters = z.object(filters)

export const RunProfile = z.object({
  envVars: z.nullish(StringMap),
  launchParameters: z.nullish(LaunchParameters),
  mounts: z.nullish(z.array(z.unknown())),
  purpose: z.nullish(z.string()),
  secrets: z.nullish(StringMap),
})
export type RunProfile = z.infer<typeof RunProfile>

export const ScenarioRunStart = z.object({
  scenario_id: Id,
  benchmark_run_id: z.nullish(Id),
  run_name: z.nullish(z.string()),
  metadata: z.nullish(Metadata),
  runProfile: z.nullish(RunProfile),
})
export type ScenarioRunStart = z.infer<typeof ScenarioRunStart>

export const scenarioRuns = defineEndpoints('scenarioRuns', 'stable', {
  start: post('/v1/scenarios/start_run', json(ScenarioRun), { body: ScenarioRunStart }),
  list: get('/v1/scenarios/runs', json(ScenarioRunList), { query: ScenarioRunListQuery }),
  get: get('/v1/scenarios/runs/:id', json(ScenarioRun), { params: ById }),
  score: post('/v1/scenarios/runs/:id/score', json(ScenarioRun), { params: ById }),
  complete: post('/v1/scenarios/runs/:id/complete', json(ScenarioRun), { params: ById }),
  cancel: post('/v1/scenarios/runs/:id/cancel', json(ScenarioRun), { params: ById }),
  downloadLogs: post('/v1/scenarios/runs/:id/download_logs', bytes('application/zip'), { params: ById }),
  ofScenario: get('/v1/scenarios/:id/runs', json(ScenarioRunList), { params: ById, query: ScenarioRunFilters }),
})
