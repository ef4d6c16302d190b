import * as z from 'zod/mini'
import { AgentUsage } from './agent-usage.ts'
import { benchmarkRunStates } from './benchmark-runs.ts'
import { ById, EpochMs, Metadata, openEnum, pageEnvelope, pageQuery, StringMap, sortQuery } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'

export const benchmarkJobStates = [
  'initializing',
  'queued',
  'running',
  'completed',
  'failed',
  'cancelled',
  'timeout',
  // Extension: an imported job whose files were copied while it was running.
  'incomplete',
] as const
export type BenchmarkJobState = (typeof benchmarkJobStates)[number]
export const scenarioOutcomeStates = ['COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELED'] as const

export const AgentConfig = z.object({
  name: z.string(),
  type: openEnum(['job_agent']),
  agent_id: z.nullish(z.string()),
  model_name: z.nullish(z.string()),
  timeout_seconds: z.nullish(z.number()),
  kwargs: z.nullish(z.record(z.string(), z.unknown())),
  agent_environment: z.nullish(
    z.object({ environment_variables: z.nullish(StringMap), secrets: z.nullish(StringMap) }),
  ),
})

export const OrchestratorConfig = z.object({
  n_concurrent_trials: z.nullish(z.int()),
  n_attempts: z.nullish(z.int()),
  timeout_multiplier: z.nullish(z.number()),
  quiet: z.nullish(z.boolean()),
})

/** The other fields depend on `type`. `imported` is an extension. */
export const JobSource = z.object({
  type: openEnum(['harbor', 'benchmark', 'scenarios', 'imported']),
  inline_yaml: z.nullish(z.string()),
  benchmark_id: z.nullish(z.string()),
  benchmark_name: z.nullish(z.string()),
  scenario_ids: z.nullish(z.array(z.string())),
  import_id: z.nullish(z.string()),
})

export const ScenarioOutcome = z.object({
  scenario_definition_id: z.string(),
  scenario_name: z.string(),
  state: openEnum(scenarioOutcomeStates),
  scenario_run_id: z.nullish(z.string()),
  /** Judged metric, not clamped. Unspecified: Harbor's rewards may be outside 0 to 1. */
  score: z.nullish(z.number()),
  /** Extensions from here. All rewards of the verifier, in file order. */
  rewards: z.nullish(z.record(z.string(), z.number())),
  duration_ms: z.nullish(z.int()),
  failure_reason: z.nullish(z.object({ exception_type: z.string(), exception_message: z.string() })),
  attempt: z.nullish(z.int()),
  warnings: z.nullish(z.array(z.string())),
  /** Whether a warning may have affected the score, which is then not comparable. */
  environment_differs: z.nullish(z.boolean()),
  /** Where the trial ran: swarm, container, bubblewrap or none. */
  engine: z.nullish(z.string()),
  agent_version: z.nullish(z.string()),
  usage: z.nullish(AgentUsage),
  trajectories: z.nullish(z.array(z.string())),
})

export const BenchmarkOutcome = z.object({
  benchmark_run_id: z.string(),
  agent_name: z.string(),
  model_name: z.nullish(z.string()),
  n_completed: z.int(),
  n_failed: z.int(),
  n_timeout: z.int(),
  n_canceled: z.nullish(z.int()),
  n_total_trials: z.nullish(z.int()),
  n_environment_differs: z.nullish(z.int()),
  /** Extension: trials that ran again because their node was lost. These are not retries. */
  node_losses: z.nullish(z.array(z.object({ message: z.string(), n_trials: z.int() }))),
  average_score: z.nullish(z.number()),
  duration_ms: z.nullish(z.int()),
  scenario_outcomes: z.array(ScenarioOutcome),
})

export const InProgressRun = z.object({
  benchmark_run_id: z.string(),
  state: openEnum(benchmarkRunStates),
  start_time_ms: EpochMs,
  duration_ms: z.nullish(z.int()),
  agent_config: z.nullish(
    z.object({
      type: z.string(),
      info: z.nullish(z.string()),
      name: z.nullish(z.string()),
      model_name: z.nullish(z.string()),
    }),
  ),
})

export const BenchmarkJob = z.object({
  id: z.string(),
  name: z.string(),
  state: openEnum(benchmarkJobStates),
  /** Unspecified: null if unknown, as for imported jobs without times. */
  create_time_ms: z.nullable(EpochMs),
  job_source: z.nullish(JobSource),
  job_spec: z.nullish(
    z.object({
      scenario_ids: z.array(z.string()),
      agent_configs: z.array(AgentConfig),
      orchestrator_config: z.nullish(OrchestratorConfig),
    }),
  ),
  failure_reason: z.nullish(z.string()),
  warnings: z.nullish(z.array(z.string())),
  benchmark_outcomes: z.nullish(z.array(BenchmarkOutcome)),
  in_progress_runs: z.nullish(z.array(InProgressRun)),
  /** Extension: trials that `n_concurrent_trials` allows, but that wait for resources. */
  waiting: z.nullish(z.object({ n_trials: z.int(), message: z.string() })),
  /** Extension: reward keys of its trials, in order of appearance. */
  metrics: z.nullish(z.array(z.string())),
  /** Extension: reward key that `score` holds. Null for scores of the service's own scorers. */
  judged_metric: z.nullish(z.string()),
  /** Extension: settings by dotted key, such as `environment.type`. A missing key is not reported. */
  settings: z.nullish(z.record(z.string(), z.unknown())),
})
export type BenchmarkJob = z.infer<typeof BenchmarkJob>

export type AgentConfig = z.infer<typeof AgentConfig>
export type BenchmarkOutcome = z.infer<typeof BenchmarkOutcome>
export type ScenarioOutcome = z.infer<typeof ScenarioOutcome>
export type InProgressRun = z.infer<typeof InProgressRun>

export const BenchmarkJobList = z.object({ jobs: z.array(BenchmarkJob), ...pageEnvelope })
export type BenchmarkJobList = z.infer<typeof BenchmarkJobList>
export const BenchmarkJobListQuery = z.object({
  name: z.optional(z.string()),
  ...sortQuery(['name', 'state', 'id', 'job_source', 'create_time_ms']),
  ...pageQuery,
})
export type BenchmarkJobListQuery = z.output<typeof BenchmarkJobListQuery>

/** Unspecified: longest job file. */
export const maxYamlBytes = 512 * 1024

const maxBodyBytes = 32 * 1024 * 1024

// Values are checked later, together, so that one error names every problem.
const run = { agent_configs: z.array(AgentConfig), orchestrator_config: z.nullish(OrchestratorConfig) }
export const BenchmarkJobSpec = z.discriminatedUnion('type', [
  z.object({ type: z.literal('harbor'), inline_yaml: z.string() }),
  z.object({ type: z.literal('benchmark'), benchmark_id: z.string(), ...run }),
  z.object({ type: z.literal('scenarios'), scenario_ids: z.array(z.string()), ...run }),
])
export type BenchmarkJobSpec = z.infer<typeof BenchmarkJobSpec>

export const BenchmarkJobCreate = z.object({
  name: z.nullish(z.string().check(z.maxLength(256))),
  metadata: z.nullish(Metadata),
  spec: z.nullish(BenchmarkJobSpec),
})
export type BenchmarkJobCreate = z.infer<typeof BenchmarkJobCreate>

const endedStates: readonly string[] = ['completed', 'failed', 'cancelled', 'timeout', 'incomplete']
export const hasJobEnded = (state: string): boolean => endedStates.includes(state)

const activeStates: readonly string[] = ['initializing', 'queued', 'running']
export const isJobActive = (state: string): boolean => activeStates.includes(state)

export const maxConcurrentTrials = 1000
export const ConcurrencyChange = z.object({
  n_concurrent_trials: z.int().check(z.minimum(1), z.maximum(maxConcurrentTrials)),
})

/** Unspecified: largest archive to import. */
export const maxImportBytes = 16 * 1024 ** 3

export const BenchmarkJobImport = z.object({
  /** Ignored if the archive has several jobs. */
  name: z.optional(z.string().check(z.maxLength(256))),
  /** For trials whose files don't name their agent or model. */
  agent_name: z.optional(z.string().check(z.maxLength(256))),
  model_name: z.optional(z.string().check(z.maxLength(256))),
  /** Reward key used as the score. Default: `reward`, else the first key. */
  judged_metric: z.optional(z.string().check(z.maxLength(256))),
})

export type BenchmarkJobImport = z.output<typeof BenchmarkJobImport>

const importedFields = {
  job_id: z.string(),
  name: z.string(),
  already_imported: z.boolean(),
  n_trials: z.int(),
  warnings: z.array(z.string()),
}
const ImportedJob = z.object({
  ...importedFields,
  /** Folder in the archive. */
  path: z.string(),
  missing_names: z.array(openEnum(['agent_name', 'model_name'])),
})
export type ImportedJob = z.infer<typeof ImportedJob>

/** The first job, and all jobs of the archive. */
export const BenchmarkJobImported = z.object({
  ...importedFields,
  jobs: z.array(ImportedJob),
  skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
})
export type BenchmarkJobImported = z.infer<typeof BenchmarkJobImported>

export const benchmarkJobs = defineEndpoints('benchmarkJobs', 'beta', {
  list: get('/v1/benchmark_jobs', json(BenchmarkJobList), { query: BenchmarkJobListQuery }),
  create: post('/v1/benchmark_jobs', json(BenchmarkJob), { body: BenchmarkJobCreate, maxBodyBytes }),
  import: post('/v1/benchmark_jobs/import', json(BenchmarkJobImported), {
    body: BenchmarkJobImport,
    bodyFormat: 'multipart',
    maxBodyBytes: maxImportBytes,
  }),
  get: get('/v1/benchmark_jobs/:id', json(BenchmarkJob), { params: ById }),
  /** Extension: the specification can cancel only single runs. */
  cancel: post('/v1/benchmark_jobs/:id/cancel', json(BenchmarkJob), { params: ById }),
  setConcurrency: post('/v1/benchmark_jobs/:id/concurrency', json(BenchmarkJob), {
    params: ById,
    body: ConcurrencyChange,
  }),
})
