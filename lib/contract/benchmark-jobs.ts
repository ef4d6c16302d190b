import * as z from 'zod/mini'
import { AgentUsage } from './agent-usage.ts'
import { benchmarkRunStates } from './benchmark-run-states.ts'
import { ById, EpochMs, Metadata, openEnum, pageEnvelope, pageQuery, StringMap } from './common.ts'
import { defineEndpoints, json } from './endpoint.ts'

export const benchmarkJobStates = [
  'initializing',
  'queued',
  'running',
  'completed',
  'failed',
  'cancelled',
  'timeout',
  // Beside the interface: an imported job whose files were copied while it was running.
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

/**
 * `type` tells which of the other fields are there: harbor, benchmark or scenarios. Beside the interface, `imported` is a
 * job that ran elsewhere.
 */
export const JobSource = z.object({
  type: openEnum(['harbor', 'benchmark', 'scenarios', 'imported']),
  inline_yaml: z.nullish(z.string()),
  benchmark_id: z.nullish(z.string()),
  benchmark_name: z.nullish(z.string()),
  scenario_ids: z.nullish(z.array(z.string())),
  /** Of an imported job: what it is called by where it ran. */
  import_id: z.nullish(z.string()),
})

export const ScenarioOutcome = z.object({
  scenario_definition_id: z.string(),
  scenario_name: z.string(),
  state: openEnum(scenarioOutcomeStates),
  scenario_run_id: z.nullish(z.string()),
  /** Value of the judged metric, unclipped. Unspecified: scores outside 0..1, which Harbor's rewards may have. */
  score: z.nullish(z.number()),
  /** Beside the interface: every reward of the verifier by key, in file order. */
  rewards: z.nullish(z.record(z.string(), z.number())),
  duration_ms: z.nullish(z.int()),
  failure_reason: z.nullish(z.object({ exception_type: z.string(), exception_message: z.string() })),
  /** Which of the attempts at its scenario, from 1. */
  attempt: z.nullish(z.int()),
  /** What of the task is not as its author meant it. */
  warnings: z.nullish(z.array(z.string())),
  /** Whether one of the warnings may have changed the score, so that it is no answer to compare with others. */
  environment_differs: z.nullish(z.boolean()),
  agent_version: z.nullish(z.string()),
  usage: z.nullish(AgentUsage),
  /** Paths, among the log files of the scenario run, of what the agent did step by step, in the form ATIF. */
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
  /** Beside the interface: planned trials of this agent, including those without an outcome. */
  n_total_trials: z.nullish(z.int()),
  n_environment_differs: z.nullish(z.int()),
  average_score: z.nullish(z.number()),
  duration_ms: z.nullish(z.int()),
  scenario_outcomes: z.array(ScenarioOutcome),
})

export const InProgressRun = z.object({
  benchmark_run_id: z.string(),
  state: openEnum(benchmarkRunStates),
  start_time_ms: EpochMs,
  duration_ms: z.nullish(z.int()),
  /** `external_api` with `info`, or a whole job_agent config. */
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
  /** Unspecified: null where it is unknown, as in an imported job whose files have no times. */
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
  /** What the job file asks for and is not done, and what of its tasks is not as their authors meant it. */
  warnings: z.nullish(z.array(z.string())),
  benchmark_outcomes: z.nullish(z.array(BenchmarkOutcome)),
  in_progress_runs: z.nullish(z.array(InProgressRun)),
  /** Beside the interface: all reward keys of its trials, in order of first appearance. */
  metrics: z.nullish(z.array(z.string())),
  /** Beside the interface: the reward key that `score` holds. Null where the service's own scorers judged. */
  judged_metric: z.nullish(z.string()),
  /** Beside the interface: how the job was run, by dotted key (`environment.type`). A missing key is not reported. */
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
  ...pageQuery,
})
export type BenchmarkJobListQuery = z.output<typeof BenchmarkJobListQuery>

/** Unspecified: the longest job file. */
export const maxYamlBytes = 512 * 1024

/** JSON writes a line break as two bytes, a control character as six. */
const maxBodyBytes = 32 * 1024 * 1024

// Only the shape: what the values must be is checked together, so that one refusal names every problem.
const run = { agent_configs: z.array(AgentConfig), orchestrator_config: z.nullish(OrchestratorConfig) }
export const BenchmarkJobSpec = z.discriminatedUnion('type', [
  z.object({ type: z.literal('harbor'), inline_yaml: z.string() }),
  z.object({ type: z.literal('benchmark'), benchmark_id: z.string(), ...run }),
  z.object({ type: z.literal('scenarios'), scenario_ids: z.array(z.string()), ...run }),
])
export type BenchmarkJobSpec = z.infer<typeof BenchmarkJobSpec>

export const BenchmarkJobCreate = z.object({
  /** Made up when it is absent. */
  name: z.nullish(z.string().check(z.maxLength(256))),
  metadata: z.nullish(Metadata),
  spec: z.nullish(BenchmarkJobSpec),
})
export type BenchmarkJobCreate = z.infer<typeof BenchmarkJobCreate>

const endedStates: readonly string[] = ['completed', 'failed', 'cancelled', 'timeout', 'incomplete']
/** The states a job does not leave. */
export const hasJobEnded = (state: string): boolean => endedStates.includes(state)

const activeStates: readonly string[] = ['initializing', 'queued', 'running']
/** False for a state that is not known: nobody can say that such a job runs. */
export const isJobActive = (state: string): boolean => activeStates.includes(state)

export const maxConcurrentTrials = 1000
export const ConcurrencyChange = z.object({
  n_concurrent_trials: z.int().check(z.minimum(1), z.maximum(maxConcurrentTrials)),
})

/** Unspecified: the largest archive of a job that ran elsewhere. */
export const maxImportBytes = 8 * 1024 ** 3

export const BenchmarkJobImport = z.object({
  /** Default: the name in the job's files. */
  name: z.optional(z.string().check(z.maxLength(256))),
  /** Name of the agent of trials whose files name none. */
  agent_name: z.optional(z.string().check(z.maxLength(256))),
  /** Reward key to judge by. Default: `reward`, else the first key. */
  judged_metric: z.optional(z.string().check(z.maxLength(256))),
})

export type BenchmarkJobImport = z.output<typeof BenchmarkJobImport>

export const BenchmarkJobImported = z.object({
  job_id: z.string(),
  name: z.string(),
  /** The account has this job already, and nothing was changed. */
  already_imported: z.boolean(),
  n_trials: z.int(),
  /** What could not be read, and what does not fit together. */
  warnings: z.array(z.string()),
})
export type BenchmarkJobImported = z.infer<typeof BenchmarkJobImported>

export const benchmarkJobs = defineEndpoints('benchmarkJobs', 'beta', {
  list: { method: 'GET', path: '/v1/benchmark_jobs', query: BenchmarkJobListQuery, response: json(BenchmarkJobList) },
  create: {
    method: 'POST',
    path: '/v1/benchmark_jobs',
    body: BenchmarkJobCreate,
    maxBodyBytes,
    response: json(BenchmarkJob),
  },
  /** Beside the interface: a zip of a job of Harbor, or of the logs of a run that was made here. */
  import: {
    method: 'POST',
    path: '/v1/benchmark_jobs/import',
    body: BenchmarkJobImport,
    bodyFormat: 'multipart',
    maxBodyBytes: maxImportBytes,
    response: json(BenchmarkJobImported),
  },
  get: { method: 'GET', path: '/v1/benchmark_jobs/:id', params: ById, response: json(BenchmarkJob) },
  /** Beside the interface, which can cancel the runs of a job one by one. */
  cancel: { method: 'POST', path: '/v1/benchmark_jobs/:id/cancel', params: ById, response: json(BenchmarkJob) },
  /** Beside the interface: how many trials of a job that has not ended run at once from now on. */
  setConcurrency: {
    method: 'POST',
    path: '/v1/benchmark_jobs/:id/concurrency',
    params: ById,
    body: ConcurrencyChange,
    response: json(BenchmarkJob),
  },
})
