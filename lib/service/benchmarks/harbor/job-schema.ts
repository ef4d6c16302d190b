import * as z from 'zod/mini'

// Harbor accepts numbers written as text.
const numeric = (value: unknown) =>
  typeof value === 'string' && /^[+-]?\d+(\.\d*)?$/.test(value.trim()) ? Number(value) : value
const int = (min: number) =>
  z.pipe(
    z.transform(numeric),
    z
      .int('must be a whole number')
      .check(z.minimum(min, `must be at least ${min}`), z.maximum(100_000, 'must be at most 100000')),
  )
const seconds = () =>
  z.pipe(z.transform(numeric), z.number('must be a number of seconds').check(z.positive('must be more than 0')))
const factor = () => z.pipe(z.transform(numeric), z.number('must be a number').check(z.positive('must be more than 0')))
const nonNegative = () =>
  z.pipe(z.transform(numeric), z.number('must be a number').check(z.nonnegative('must not be negative')))
const text = () => z.string('must be a string')
const texts = () => z.array(text(), 'must be a list of strings')
const bool = () => z.boolean('must be true or false')
const env = () =>
  z.pipe(
    z.transform((value: unknown, { issues }) => {
      if (!Array.isArray(value)) return value
      const pairs = value.map((each: unknown, i) => {
        const [, name, text] = (typeof each === 'string' && /^([^=]+)=([\s\S]*)$/.exec(each)) || []
        if (name === undefined) issues.push({ code: 'custom', input: each, path: [i], message: 'must be KEY=VALUE' })
        return [name, text]
      })
      return Object.fromEntries(pairs)
    }),
    z.record(z.string(), text(), 'must be a mapping of strings; quote numbers'),
  )
const mapping = <S extends z.core.$ZodLooseShape>(shape: S) => z.object(shape, 'must be a mapping')
const options = () => z.record(z.string(), z.unknown(), 'must be a mapping')
/** Known keys whose values are not checked; most have no effect here. */
const unchecked = <K extends string>(...keys: K[]) =>
  Object.fromEntries(keys.map((key) => [key, z.nullish(z.unknown())])) as {
    [_ in K]: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniUnknown>>
  }

const Agent = mapping({
  name: z.nullish(text()),
  import_path: z.nullish(text()),
  model_name: z.nullish(text()),
  override_timeout_sec: z.nullish(seconds()),
  override_setup_timeout_sec: z.nullish(seconds()),
  max_timeout_sec: z.nullish(seconds()),
  kwargs: z.nullish(options()),
  env: z.nullish(env()),
  n_concurrent: z.nullish(int(1)),
  ...unchecked(
    'concurrency_group',
    'skills',
    'mcp_servers',
    'include_logs',
    'exclude_logs',
    'extra_allowed_hosts',
    'resume_trajectory',
    'load_trajectory',
  ),
})

const Dataset = mapping({
  path: z.nullish(text()),
  name: z.nullish(text()),
  task_names: z.nullish(texts()),
  exclude_task_names: z.nullish(texts()),
  n_tasks: z.nullish(int(1)),
  ...unchecked('version', 'ref', 'registry', 'registry_url', 'registry_path', 'repo', 'overwrite', 'download_dir'),
})

const Task = mapping({
  path: z.nullish(text()),
  name: z.nullish(text()),
  source: z.nullish(text()),
  ...unchecked('ref', 'git_url', 'git_commit_id', 'overwrite', 'download_dir'),
})

const Retry = mapping({
  max_retries: z.prefault(int(0), 0),
  include_exceptions: z.nullish(texts()),
  exclude_exceptions: z.nullish(texts()),
  wait_multiplier: z.prefault(nonNegative(), 1),
  min_wait_sec: z.prefault(nonNegative(), 1),
  max_wait_sec: z.prefault(nonNegative(), 60),
})

const Metric = mapping({
  type: z.nullish(z.enum(['sum', 'min', 'max', 'mean', 'uv-script'], 'must be sum, min, max, mean or uv-script')),
  ...unchecked('kwargs'),
})

const Environment = mapping({
  type: z.nullish(text()),
  import_path: z.nullish(text()),
  override_cpus: z.nullish(factor()),
  override_memory_mb: z.nullish(factor()),
  override_storage_mb: z.nullish(factor()),
  override_gpus: z.nullish(nonNegative()),
  env: z.nullish(env()),
  kwargs: z.nullish(options()),
  force_build: z.nullish(bool()),
  ...unchecked('delete', 'suppress_override_warnings', 'mounts'),
})

const Verifier = mapping({
  override_timeout_sec: z.nullish(seconds()),
  max_timeout_sec: z.nullish(seconds()),
  env: z.nullish(env()),
  disable: z.nullish(bool()),
  import_path: z.nullish(text()),
  ...unchecked('kwargs'),
})

export const JobFile = z.object(
  {
    job_name: z.nullish(text().check(z.maxLength(256, 'must be at most 256 characters'))),
    n_attempts: z.prefault(int(1), 1),
    n_concurrent_trials: z.nullish(int(1)),
    quiet: z.nullish(bool()),
    install_only: z.nullish(bool()),
    timeout_multiplier: z.prefault(factor(), 1),
    agent_timeout_multiplier: z.nullish(factor()),
    verifier_timeout_multiplier: z.nullish(factor()),
    agent_setup_timeout_multiplier: z.nullish(factor()),
    environment_build_timeout_multiplier: z.nullish(factor()),
    retry: z.nullish(Retry),
    /** The old form: three of its values are used. */
    orchestrator: z.nullish(
      mapping({
        n_concurrent_trials: z.nullish(int(1)),
        quiet: z.nullish(bool()),
        retry: z.nullish(Retry),
        ...unchecked('type', 'kwargs'),
      }),
    ),
    environment: z.nullish(Environment),
    verifier: z.nullish(Verifier),
    metrics: z.nullish(z.array(Metric, 'must be a list of mappings')),
    agents: z.nullish(
      z.array(Agent, 'must be a list of mappings').check(z.minLength(1, 'is empty: name at least one agent')),
    ),
    datasets: z.nullish(z.array(Dataset, 'must be a list of mappings')),
    tasks: z.nullish(z.array(Task, 'must be a list of mappings')),
    extra_instruction_paths: z.nullish(texts()),
    extra_instructions: z.nullish(z.union([texts(), text()], 'must be text or a list of texts')),
    ...unchecked('jobs_dir', 'debug', 'user_agent', 'artifacts', 'source_jobs', 'plugins'),
  },
  'must be a mapping with keys such as agents and datasets',
)
export type JobFile = z.output<typeof JobFile>
export type Agent = z.output<typeof Agent>
export type Retry = z.output<typeof Retry>

export const defaultRetry = Retry.parse({})

export const knownKeys = {
  '': Object.keys(JobFile.shape),
  agents: Object.keys(Agent.shape),
  datasets: Object.keys(Dataset.shape),
  tasks: Object.keys(Task.shape),
  retry: Object.keys(Retry.shape),
  environment: Object.keys(Environment.shape),
  verifier: Object.keys(Verifier.shape),
}

export const isSet = (value: unknown) =>
  value !== null && value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)
