import { readFile } from 'node:fs/promises'
import { maxYamlBytes } from '#lib/contract/benchmark-jobs.ts'
import { reservedAgentNames } from '#lib/service/domain/agent-names.ts'
import type { AgentDefinition } from '../agents/definition.ts'
import { type NamedAgents, secretsFor } from '../agents/named-agents.ts'
import {
  type Environment,
  type HarborAgent,
  type HarborPart,
  type JobPlan,
  maxTrialsPerJob,
  notRetriedByDefault,
  type RetryPolicy,
} from '../plan.ts'
import { isVariableName } from '../workbench.ts'
import { findFile } from './datasets.ts'
import { type Agent, defaultRetry, isSet, JobFile, knownKeys, type Retry } from './job-schema.ts'
import { chooseTasks, type TaskReader } from './job-tasks.ts'
import { secretOf } from './templates.ts'
import { maxProblems, type Path, pathText, readYaml, type YamlProblem, type YamlSource } from './yaml-source.ts'

interface ReadOptions {
  datasetRoots: readonly string[]
  hasSecret: (name: string) => boolean
  namedAgents: Pick<NamedAgents, 'find' | 'unknownAgentMessage'>
}

const defaultConcurrentTrials = 4

interface HarborJob {
  name: string | null
  quiet: boolean
  plan: Omit<JobPlan, 'harbor'>
  harbor: HarborPart
}

export const readJobFile = async (
  yaml: string,
  options: ReadOptions,
): Promise<{ job: HarborJob; problems?: undefined } | { job?: undefined; problems: YamlProblem[] }> => {
  const bytes = Buffer.byteLength(yaml)
  if (bytes > maxYamlBytes) {
    const message = `The job file has ${bytes} bytes; the limit is ${maxYamlBytes / 1024} KiB`
    return { problems: [{ line: 1, column: 1, path: '', message }] }
  }
  const { source, problems } = readYaml(yaml)
  if (!source) return { problems }
  const { data: file, error } = JobFile.safeParse(source.value)
  const reading = new JobFileReader(source, options)
  for (const { path, message } of error?.issues ?? [])
    reading.report(path as Path, `${path.length === 0 ? 'The job file' : String(path.at(-1))} ${message}`)
  const job = file && (await reading.job(file))
  return job && reading.problems.length === 0 ? { job } : { problems: reading.problemsWithUnknownKeys() }
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((each, key) => (each as Record<string | number, unknown> | null | undefined)?.[key], value)

class JobFileReader implements TaskReader {
  readonly problems: YamlProblem[] = []
  readonly #warnings: string[] = []
  readonly #unknown: Path[]
  readonly #source: YamlSource
  readonly #options: ReadOptions

  constructor(source: YamlSource, options: ReadOptions) {
    this.#source = source
    this.#options = options
    this.#unknown = unknownKeysOf(source.value)
    for (const path of this.#unknown) this.warn(`${pathText(path)} is not a job file key and is ignored`)
  }

  get datasetRoots() {
    return this.#options.datasetRoots
  }

  report(path: Path, message: string) {
    if (this.problems.length < maxProblems) this.problems.push(this.#source.problem(path, message))
  }

  warn(sentence: string) {
    this.#warnings.push(sentence)
  }

  async job(file: JobFile): Promise<HarborJob> {
    this.#rejectUnsupported(file)
    const found = (file.agents ?? [{}]).flatMap((agent, i) => this.#agent(agent, i) ?? [])
    const agents = found.map(({ agent }) => agent)
    const unread = await chooseTasks(file, this)
    const settings = {
      timeoutMultiplier: file.timeout_multiplier,
      agentTimeoutMultiplier: file.agent_timeout_multiplier ?? null,
      verifierTimeoutMultiplier: file.verifier_timeout_multiplier ?? null,
      buildTimeoutMultiplier: file.environment_build_timeout_multiplier ?? null,
      verifier: {
        overrideTimeoutSeconds: file.verifier?.override_timeout_sec ?? null,
        maxTimeoutSeconds: file.verifier?.max_timeout_sec ?? null,
        env: this.#environment(['verifier', 'env'], file.verifier?.env),
      },
      environment: {
        overrideCpus: file.environment?.override_cpus ?? null,
        overrideMemoryMb: file.environment?.override_memory_mb ?? null,
        overrideStorageMb: file.environment?.override_storage_mb ?? null,
        forceBuild: file.environment?.force_build ?? false,
        env: this.#environment(['environment', 'env'], file.environment?.env),
      },
      extraInstructions: await this.#extraInstructions(file),
    }
    const trials = agents.length * unread.length * file.n_attempts
    if (trials > maxTrialsPerJob) this.report(['n_attempts'], `makes ${trials} trials; the limit is ${maxTrialsPerJob}`)
    const { orchestrator } = file
    return {
      name: file.job_name ?? null,
      quiet: file.quiet ?? orchestrator?.quiet ?? false,
      plan: {
        scenarios: [],
        attempts: file.n_attempts,
        concurrentTrials: file.n_concurrent_trials ?? orchestrator?.n_concurrent_trials ?? defaultConcurrentTrials,
        retry: retryOf(file.retry ?? orchestrator?.retry ?? defaultRetry),
        timeoutMultiplier: 1,
        benchmarkId: null,
        agents: found.map(({ definition }) => definition),
      },
      harbor: { scenarios: [], unread, agents, settings, warnings: this.#warnings },
    }
  }

  /** With other problems, an unknown key may be one as well: a typo of the key that is missing. */
  problemsWithUnknownKeys(): YamlProblem[] {
    for (const path of this.#unknown) this.report(path, `${path.at(-1)} is not a job file key`)
    return this.problems.sort((a, b) => a.line - b.line || a.column - b.column)
  }

  #rejectUnsupported(file: JobFile) {
    const { environment, verifier } = file
    if (file.install_only) this.report(['install_only'], 'install_only is not supported: it runs nothing to score')
    if (isSet(file.source_jobs)) this.report(['source_jobs'], 'source_jobs is not supported: jobs cannot be rescored')
    if (environment?.import_path)
      this.report(['environment', 'import_path'], 'Custom environments (import_path) are not supported')
    if (isSet(environment?.mounts)) this.report(['environment', 'mounts'], 'Host folders cannot be mounted')
    if (environment?.override_gpus) this.report(['environment', 'override_gpus'], 'Devboxes have no GPUs')
    for (const key of Object.keys(environment?.kwargs ?? {}))
      if (/compose/i.test(key)) this.report(['environment', 'kwargs', key], `${key}: Docker Compose is not supported`)
    if (verifier?.import_path)
      this.report(['verifier', 'import_path'], 'Custom verifiers (import_path) are not supported')
    if (verifier?.disable) this.report(['verifier', 'disable'], 'The verifier cannot be disabled: a job needs scores')
    const type = environment?.type
    if (type && type !== 'docker') this.warn(`environment.type ${type}: tasks run in devboxes instead`)
    const warnings: [unknown, string][] = [
      [file.orchestrator, 'orchestrator is deprecated; move its values to the top level'],
      [file.plugins, 'plugins are not loaded'],
      [file.artifacts, 'artifacts: only files in /logs/artifacts are kept'],
      [file.metrics?.some(({ type }) => type === 'uv-script'), 'metrics of type uv-script are not computed'],
    ]
    for (const [applies, sentence] of warnings) if (isSet(applies)) this.warn(sentence)
  }

  #agent(agent: Agent, i: number): { definition: AgentDefinition | null; agent: HarborAgent } | undefined {
    const path: Path = ['agents', i]
    const definition = this.#definition(agent, path)
    if (definition === undefined) return undefined
    const kwargs = agent.kwargs ?? {}
    const { command } = kwargs
    const isCommand = definition === null && agent.name === 'command'
    if (isCommand && (typeof command !== 'string' || !/\S/.test(command)))
      this.report(
        'kwargs' in agent && command !== undefined ? [...path, 'kwargs', 'command'] : path,
        'Agent command needs a command in kwargs.command',
      )
    for (const key of ['skills', 'mcp_servers', 'resume_trajectory', 'load_trajectory'] as const)
      if (isSet(agent[key])) this.warn(`agents[${i}].${key} is not passed to the agent`)
    const env = this.#environment([...path, 'env'], agent.env)
    const modelName = agent.model_name ?? null
    const needed = definition && secretsFor(definition, { modelName, ...env }, this.#options.hasSecret)
    for (const { field, message } of needed?.problems ?? [])
      this.report(field === 'model_name' && modelName !== null ? [...path, 'model_name'] : path, message)
    return {
      definition,
      agent: {
        name: agent.name ?? 'oracle',
        modelName,
        command: isCommand && typeof command === 'string' ? command : null,
        kwargs,
        overrideTimeoutSeconds: agent.override_timeout_sec ?? null,
        maxTimeoutSeconds: agent.max_timeout_sec ?? null,
        nConcurrent: agent.n_concurrent ?? null,
        env: { ...env, secrets: { ...needed?.secrets, ...env.secrets } },
      },
    }
  }

  /** Null if it needs no definition, undefined if none was found. */
  #definition({ name = 'oracle', import_path }: Agent, path: Path): AgentDefinition | null | undefined {
    if (import_path) {
      this.report(
        [...path, 'import_path'],
        'Python agents (import_path) are not supported. Define the command that runs it in agents/NAME/agent.toml in the data folder or with --agent NAME=COMMAND, or use name: command with kwargs.command',
      )
      return undefined
    }
    if (name === null || reservedAgentNames.includes(name)) return null
    const named = this.#options.namedAgents.find(name)
    if (!named)
      this.report(
        [...path, 'name'],
        `${this.#options.namedAgents.unknownAgentMessage(name)}; built-in agents are oracle, nop and command`,
      )
    for (const problem of named?.problems ?? []) this.report([...path, 'name'], problem)
    return named?.definition
  }

  #environment(path: Path, env: Record<string, string> | null | undefined): Environment {
    const variables: Record<string, string> = {}
    const secrets: Record<string, string> = {}
    if (Array.isArray(valueAt(this.#source.value, path)))
      this.warn(`${pathText(path)}: a list of KEY=VALUE is deprecated; use a mapping`)
    for (const [name, value] of Object.entries(env ?? {})) {
      if (!isVariableName(name)) this.report([...path, name], `${JSON.stringify(name)} is not a variable name`)
      const secret = secretOf(value)
      if (!secret) variables[name] = value
      else if (this.#options.hasSecret(secret.name)) secrets[name] = secret.name
      else if (secret.fallback !== undefined) variables[name] = secret.fallback
      else this.report([...path, name], `${name} is \${${secret.name}}, but the account has no secret ${secret.name}`)
    }
    return { variables, secrets }
  }

  async #extraInstructions({ extra_instructions: extra, extra_instruction_paths: paths }: JobFile): Promise<string[]> {
    const texts = typeof extra === 'string' ? [extra] : [...(extra ?? [])]
    for (const [i, path] of (paths ?? []).entries()) {
      const file = await findFile(path, this.datasetRoots)
      if (file === undefined || file.size > maxInstructionBytes)
        this.report(
          ['extra_instruction_paths', i],
          `${path} is not a text file of at most 64 KiB below the folders given with --datasets`,
        )
      else texts.push(await readFile(file.path, 'utf8'))
    }
    return texts
  }
}

/** Keys that Harbor does not have. Values may have any type, because the schema may not accept them. */
const unknownKeysOf = (file: unknown): Path[] => {
  const unknown: Path[] = []
  const check = (path: Path, known: readonly string[]) => {
    const value = valueAt(file, path)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const key of Object.keys(value))
      if (!known.includes(key) && unknown.length < maxProblems) unknown.push([...path, key])
  }
  check([], knownKeys[''])
  for (const key of ['retry', 'environment', 'verifier'] as const) check([key], knownKeys[key])
  for (const list of ['agents', 'datasets', 'tasks'] as const) {
    const items = valueAt(file, [list])
    if (Array.isArray(items)) for (const i of items.keys()) check([list, i], knownKeys[list])
  }
  return unknown
}

const maxInstructionBytes = 64 * 1024

const retryOf = (retry: Retry): RetryPolicy => ({
  maxRetries: retry.max_retries,
  include: retry.include_exceptions ?? null,
  exclude: retry.exclude_exceptions ?? notRetriedByDefault,
  waitMultiplier: retry.wait_multiplier,
  minWaitSeconds: retry.min_wait_sec,
  maxWaitSeconds: retry.max_wait_sec,
})
