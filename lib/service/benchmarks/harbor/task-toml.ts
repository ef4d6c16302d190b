import * as z from 'zod/mini'

const text = () => z.string('must be a string')
const seconds = () => z.number('must be a number of seconds').check(z.positive('must be more than 0'))
const count = () => z.number('must be a number').check(z.nonnegative('must not be negative'))
const env = () => z.record(z.string(), text(), 'must be a table of strings')
const texts = () => z.array(text(), 'must be a list of strings')
const table = <S extends z.core.$ZodLooseShape>(shape: S) => z.object(shape, 'must be a table')
const NetworkMode = z.enum(['public', 'no-network', 'allowlist'], 'must be public, no-network or allowlist')
export type NetworkMode = z.output<typeof NetworkMode>

const Healthcheck = table({
  command: text(),
  interval_sec: z.prefault(seconds(), 5),
  timeout_sec: z.prefault(seconds(), 30),
  start_period_sec: z.prefault(count(), 0),
  start_interval_sec: z.prefault(seconds(), 5),
  retries: z.prefault(z.int('must be a whole number').check(z.minimum(1, 'must be at least 1')), 3),
})
export type Healthcheck = z.output<typeof Healthcheck>

const MinReward = z.union(
  [z.number(), z.record(z.string(), z.number())],
  'must be a number or a table of numbers by reward',
)
export type MinReward = z.output<typeof MinReward>

const Agent = table({
  timeout_sec: z.optional(seconds()),
  user: z.optional(z.union([z.string(), z.number()])),
  network_mode: z.optional(NetworkMode),
  allowed_hosts: z.optional(texts()),
})

const size = () => z.string().check(z.regex(/^\d+(\.\d+)?[KMGT]?i?B?$/i, 'must be a size like 2G'))

const Environment = table({
  build_timeout_sec: z.optional(seconds()),
  docker_image: z.optional(text()),
  os: z.optional(text()),
  cpus: z.optional(count()),
  memory_mb: z.optional(count()),
  storage_mb: z.optional(count()),
  gpus: z.optional(count()),
  tpu: z.optional(z.unknown()),
  env: z.optional(env()),
  workdir: z.optional(text().check(z.regex(/^\//, 'must begin with /'))),
  network_mode: z.optional(NetworkMode),
  allowed_hosts: z.optional(texts()),
  healthcheck: z.optional(Healthcheck),
  mcp_servers: z.optional(z.array(z.unknown(), 'must be a list')),
  skills_dir: z.optional(text()),
  memory: z.optional(size()),
  storage: z.optional(size()),
  allow_internet: z.optional(z.boolean('must be true or false')),
})
export type Environment = z.output<typeof Environment>

const Artifact = z.union(
  [
    z.string(),
    z.object({ source: z.string(), exclude: z.optional(z.array(z.string())), service: z.optional(z.string()) }),
  ],
  'must be a path or a table with a source',
)
const artifacts = () => z.optional(z.array(Artifact, 'must be a list'))

const Collect = table({
  command: text(),
  timeout_sec: z.optional(seconds()),
  service: z.optional(text()),
  user: z.optional(z.union([z.string(), z.number()])),
})

const Verifier = table({
  timeout_sec: z.optional(seconds()),
  env: z.optional(env()),
  user: z.optional(z.union([z.string(), z.number()])),
  network_mode: z.optional(NetworkMode),
  environment_mode: z.optional(z.enum(['shared', 'separate'], 'must be shared or separate')),
  environment: z.optional(Environment),
  collect: z.optional(z.array(Collect, 'must be a list')),
})

// Used in paths of the task and its results.
const StepName = text().check(z.regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/, 'must be a folder name in steps/'))

const Step = table({
  name: StepName,
  agent: z.optional(Agent),
  verifier: z.optional(Verifier),
  min_reward: z.optional(MinReward),
  healthcheck: z.optional(Healthcheck),
  artifacts: artifacts(),
})

/** Newest known schema of task.toml. Like Harbor, ignores unknown keys. */
export const newestSchema = [1, 4]
export const TaskToml = z.object({
  schema_version: z.optional(z.union([z.string(), z.number()], 'must be a string')),
  /** The old name of `schema_version`. */
  version: z.optional(z.union([z.string(), z.number()], 'must be a string')),
  metadata: z.optional(z.unknown()),
  task: z.optional(table({ name: z.optional(text().check(z.regex(/\S/, 'must not be empty'))) })),
  agent: z.optional(Agent),
  verifier: z.optional(Verifier),
  solution: z.optional(table({ env: z.optional(env()) })),
  environment: z.optional(Environment),
  artifacts: artifacts(),
  steps: z.optional(z.array(Step, 'must be tables [[steps]]')),
  multi_step_reward_strategy: z.optional(z.enum(['mean', 'final'], 'must be mean or final')),
})
export type TaskToml = z.output<typeof TaskToml>
