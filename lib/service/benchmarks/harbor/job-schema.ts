import * as z from 'zod/mini'
import { notRetriedByDefault } from '../retry.ts'

// Harbor's reader takes numbers that are written as text.
const numeric = (value: unknown) =>
  typeof value === 'string' && /^[+-]?\d+(\.\d*)?$/.test(value.trim()) ? Number(value) : value
const int = (least: number) =>
  z.pipe(
    z.transform(numeric),
    z
      .int('must be a whole number')
      .check(z.minimum(least, `must be at least ${least}`), z.maximum(100_000, 'must be at most 100000')),
  )
const seconds = () =>
  z.pipe(z.transform(numeric), z.number('must be a number of seconds').check(z.positive('must be more than 0')))
const factor = () => z.pipe(z.transform(numeric), z.number('must be a number').check(z.positive('must be more than 0')))
const atLeast0 = () =>
  z.pipe(z.transform(numeric), z.number('must be a number').check(z.nonnegative('must not be negative')))
const text = () => z.string('must be text')
const texts = () => z.array(text(), 'must be a list of texts')
const bool = () => z.boolean('must be true or false')
const anything = () => z.nullish(z.unknown())
const env = () => z.record(z.string(), text(), 'must be a mapping of texts; numbers need quotes')
const mapping = 'must be a mapping'

const Agent = z.object(
  {
    name: z.nullish(text()),
    import_path: z.nullish(text()),
    model_name: z.nullish(text()),
    override_timeout_sec: z.nullish(seconds()),
    override_setup_timeout_sec: z.nullish(seconds()),
    max_timeout_sec: z.nullish(seconds()),
    kwargs: z.nullish(z.record(z.string(), z.unknown(), mapping)),
    env: z.nullish(env()),
    n_concurrent: z.nullish(int(1)),
    concurrency_group: anything(),
    skills: anything(),
    mcp_servers: anything(),
    include_logs: anything(),
    exclude_logs: anything(),
    extra_allowed_hosts: anything(),
    resume_trajectory: anything(),
    load_trajectory: anything(),
  },
  mapping,
)

const Dataset = z.object(
  {
    path: z.nullish(text()),
    name: z.nullish(text()),
    version: anything(),
    ref: anything(),
    registry: anything(),
    registry_url: anything(),
    registry_path: anything(),
    repo: anything(),
    task_names: z.nullish(texts()),
    exclude_task_names: z.nullish(texts()),
    n_tasks: z.nullish(int(1)),
    overwrite: anything(),
    download_dir: anything(),
  },
  mapping,
)

const Task = z.object(
  {
    path: z.nullish(text()),
    name: z.nullish(text()),
    ref: anything(),
    git_url: anything(),
    git_commit_id: anything(),
    source: z.nullish(text()),
    overwrite: anything(),
    download_dir: anything(),
  },
  mapping,
)

const Retry = z.object(
  {
    max_retries: z.prefault(int(0), 0),
    include_exceptions: z.nullish(texts()),
    exclude_exceptions: z.nullish(texts()),
    wait_multiplier: z.prefault(atLeast0(), 1),
    min_wait_sec: z.prefault(atLeast0(), 1),
    max_wait_sec: z.prefault(atLeast0(), 60),
  },
  mapping,
)

const Metric = z.object(
  {
    type: z.nullish(z.enum(['sum', 'min', 'max', 'mean', 'uv-script'], 'must be sum, min, max, mean or uv-script')),
    kwargs: anything(),
  },
  mapping,
)

/** The form of a job file; whether its folders and secrets exist is checked elsewhere. */
export const JobFile = z.object(
  {
    job_name: z.nullish(text().check(z.maxLength(256, 'must be at most 256 characters'))),
    jobs_dir: anything(),
    n_attempts: z.prefault(int(1), 1),
    n_concurrent_trials: z.nullish(int(1)),
    quiet: z.nullish(bool()),
    debug: anything(),
    install_only: z.nullish(bool()),
    timeout_multiplier: z.prefault(factor(), 1),
    agent_timeout_multiplier: z.nullish(factor()),
    verifier_timeout_multiplier: z.nullish(factor()),
    agent_setup_timeout_multiplier: z.nullish(factor()),
    environment_build_timeout_multiplier: z.nullish(factor()),
    retry: z.nullish(Retry),
    /** The old form: three of its values are read, the others ignored. */
    orchestrator: z.nullish(
      z.object(
        {
          type: anything(),
          n_concurrent_trials: z.nullish(int(1)),
          quiet: z.nullish(bool()),
          retry: z.nullish(Retry),
          kwargs: anything(),
        },
        mapping,
      ),
    ),
    environment: z.nullish(
      z.object(
        {
          type: z.nullish(text()),
          import_path: z.nullish(text()),
          force_build: anything(),
          delete: anything(),
          override_cpus: z.nullish(factor()),
          override_memory_mb: z.nullish(factor()),
          override_storage_mb: z.nullish(factor()),
          override_gpus: z.nullish(atLeast0()),
          suppress_override_warnings: anything(),
          env: z.nullish(env()),
          kwargs: z.nullish(z.record(z.string(), z.unknown(), mapping)),
          mounts: anything(),
        },
        mapping,
      ),
    ),
    verifier: z.nullish(
      z.object(
        {
          override_timeout_sec: z.nullish(seconds()),
          max_timeout_sec: z.nullish(seconds()),
          env: z.nullish(env()),
          disable: z.nullish(bool()),
          import_path: z.nullish(text()),
          kwargs: anything(),
        },
        mapping,
      ),
    ),
    metrics: z.nullish(z.array(Metric, 'must be a list of mappings')),
    agents: z.nullish(
      z.array(Agent, 'must be a list of mappings').check(z.minLength(1, 'is empty: name at least one agent')),
    ),
    user_agent: anything(),
    datasets: z.nullish(z.array(Dataset, 'must be a list of mappings')),
    tasks: z.nullish(z.array(Task, 'must be a list of mappings')),
    artifacts: anything(),
    extra_instruction_paths: z.nullish(texts()),
    extra_instructions: z.nullish(z.union([texts(), text()], 'must be text or a list of texts')),
    source_jobs: anything(),
    plugins: anything(),
  },
  'must be a mapping of keys, such as agents and datasets',
)
export type JobFile = z.output<typeof JobFile>
export type Retry = z.output<typeof Retry>

export const defaultRetry: Retry = {
  max_retries: 0,
  exclude_exceptions: notRetriedByDefault,
  wait_multiplier: 1,
  min_wait_sec: 1,
  max_wait_sec: 60,
}

/** The keys a job file may have; any other is a warning. */
export const knownKeys = {
  '': Object.keys(JobFile.shape),
  agents: Object.keys(Agent.shape),
  datasets: Object.keys(Dataset.shape),
  tasks: Object.keys(Task.shape),
  retry: Object.keys(Retry.shape),
}

/** Whether a key asks for something. */
export const isGiven = (value: unknown) =>
  value !== null && value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)
