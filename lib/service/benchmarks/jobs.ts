import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type BenchmarkJob,
  type BenchmarkJobCreate,
  type BenchmarkJobSpec,
  hasJobEnded,
  maxConcurrentTrials,
} from '#lib/contract/benchmark-jobs.ts'
import type { FieldProblem } from '#lib/contract/query-string.ts'
import type { Scenario } from '#lib/contract/scenarios.ts'
import { defaultMaxTrials } from '#lib/service/config.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { unmetNeeds } from '#lib/service/domain/run-profile.ts'
import type { Cluster, Images, Isolation } from '#lib/service/engine/box.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { invalid, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { at } from '#lib/service/kit/timer.ts'
import type { JobRecord, JobWarning } from '#lib/service/store/benchmark-jobs.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import { agentProblems } from './agents/agents.ts'
import type { AgentDefinition } from './agents/definition.ts'
import { AgentInstalls } from './agents/installs.ts'
import { type NamedAgents, secretsFor } from './agents/named-agents.ts'
import type { BenchmarkRuns } from './benchmark-runs.ts'
import { Environments } from './environments.ts'
import { TaskImages } from './harbor/images/task-images.ts'
import { planHarborJob, readPlannedTasks } from './harbor/plan-job.ts'
import { hasEnded, type JobDeps, RunningJob } from './job.ts'
import { type JobPlan, maxTrialsPerJob, type PlannedJob, planError, profileOf, type RetryPolicy } from './plan.ts'
import type { ScenarioRuns } from './scenario-runs.ts'
import { devboxEnvironment, settingsOf } from './settings.ts'
import { createNeedsOf } from './trial-needs.ts'
import { TrialSlots } from './trial-slots.ts'
import { createRunTrial } from './trials.ts'

/** Unspecified: concurrent jobs per account; the others are queued. */
const maxRunningJobs = 4
/** Unspecified: queued and running jobs per account. */
const maxUnendedJobs = 100
/** Unspecified: when a job times out. Trials have their own timeouts. */
const maxJobSeconds = 7 * 24 * 3600
const closeMs = 1000
/** How long creating a job waits for its tasks; a job returned earlier has no scenarios yet. */
const responseMs = 1000

interface Options {
  store: Pick<
    Stores,
    'benchmarkJobs' | 'benchmarkRuns' | 'benchmarks' | 'networkPolicies' | 'scenarioRuns' | 'scenarios' | 'secrets'
  >
  benchmarkRuns: BenchmarkRuns
  scenarioRuns: ScenarioRuns
  devboxes: Devboxes
  executions: Executions
  isolation: Isolation
  datasetRoots: readonly string[]
  /** Default: what the cluster has room for, or a number for one host. */
  maxTrials: number | undefined
  cluster: Cluster | undefined
  namedAgents: NamedAgents
  installFolder: string
  environmentFolder: string
  maxEnvironmentBytes: number
  strictEnvironments: boolean
  /** Undefined without a container engine. */
  images: { engine: 'container' | 'swarm'; images: Images; listFile: string } | undefined
  folderOf: (devboxId: string) => string
  devboxFolder: string
  logFolderOf: (scenarioRunId: string) => string
  quota: StorageQuota
  log: (entry: object) => void
}

export class Jobs {
  readonly #options: Options
  readonly #deps: JobDeps
  readonly #closing = new AbortController()
  /** Another version of the service may return other fields. */
  readonly #startId = randomBytes(9).toString('base64url')
  readonly #active = new Map<string, { account: string; name: string; job: RunningJob; done: Promise<void> }>()
  readonly #environments: Environments
  readonly #maxTrials: number
  readonly #slots: TrialSlots
  #queue: { id: string; account: string }[] = []

  constructor(options: Options) {
    this.#options = options
    const installs = new AgentInstalls({ ...options, folder: options.installFolder })
    const { environmentFolder: folder, devboxFolder, maxEnvironmentBytes: maxBytes, cluster, log } = options
    this.#environments = new Environments({ folder, devboxFolder, maxBytes, log })
    const images = options.images && new TaskImages({ ...options.images, maxBytes, log })
    const runTrial = createRunTrial({ ...options, installs, environments: this.#environments, images })
    this.#maxTrials = options.maxTrials ?? (cluster ? maxConcurrentTrials : defaultMaxTrials)
    this.#slots = new TrialSlots(this.#maxTrials, cluster)
    this.#deps = { ...options, runTrial, needsOf: createNeedsOf(options), slots: this.#slots }
    options.benchmarkRuns.changes.on('state', this.#runEnded)
  }

  /** Resumes jobs after a restart; devboxes and scenario runs must have recovered first. */
  recover(): void {
    this.#environments.recover()
    const { benchmarkJobs } = this.#options.store
    for (const { id, account } of benchmarkJobs.unended()) void this.#enqueue(id, account)
  }

  /** Starts no more trials; the next service does. */
  pause(): void {
    this.#slots.pause()
  }

  /** Starts trials again. */
  resume(): void {
    this.#slots.resume()
  }

  runningTrials(): { account: string; id: string; name: string; devboxIds: readonly string[] }[] {
    return this.#slots.running.map(({ account, job, devboxIds }) => ({
      account,
      id: job,
      name: this.#active.get(job)?.name ?? job,
      devboxIds,
    }))
  }

  async close(): Promise<void> {
    this.#options.benchmarkRuns.changes.off('state', this.#runEnded)
    this.#closing.abort()
    this.#slots.close()
    const all = Promise.allSettled([...this.#active.values()].map(({ done }) => done))
    await Promise.race([all, delay(closeMs, undefined, { ref: false })])
  }

  /** Resolves once a job that has ended runs no trials. */
  async settled(id: string): Promise<void> {
    await this.#active.get(id)?.done
  }

  /** Changes with the job, except for the durations of its unfinished runs. Undefined if there is no such job. */
  etag(account: string, id: string): string | undefined {
    const version = this.#options.store.benchmarkJobs.version(account, id)
    if (version === undefined) return undefined
    const waiting = JSON.stringify(this.#active.get(id)?.job.waiting ?? null)
    return `W/"${createHash('sha256').update(`${this.#startId} ${id} ${version} ${waiting}`).digest('base64url')}"`
  }

  get(account: string, id: string): BenchmarkJob {
    const job = this.#options.store.benchmarkJobs.get(account, id) ?? notFound('benchmark job', id)
    return { ...job, waiting: this.#active.get(id)?.job.waiting ?? null }
  }

  /** Throws 400 with all problems, 409 for a taken name, 429 at the job limit, 507 without disk space. */
  async create(account: string, { name, metadata, spec }: BenchmarkJobCreate): Promise<BenchmarkJob> {
    this.#options.quota.require(account)
    const { store, isolation, images, datasetRoots, namedAgents } = this.#options
    const hasImages = images !== undefined
    if (!spec) throw invalid({ field: 'spec', message: 'is required' })
    this.#requireNameAndLimit(account, name)
    const planned =
      spec.type === 'harbor'
        ? await planHarborJob({ datasetRoots, isolation, hasImages, store, namedAgents }, account, spec.inline_yaml)
        : planScenarios(store, account, spec, namedAgents)
    // Another request may have taken the name while the files were read.
    this.#requireNameAndLimit(account, name)
    const id = newId('bmj')
    const { source, spec: resolved, plan, settings, warnings } = planned
    const isNew = store.benchmarkJobs.insert({
      id,
      account,
      name: name?.trim() || this.#freeName(account, planned),
      create_time_ms: Date.now(),
      metadata: metadata ?? {},
      source,
      spec: resolved,
      plan,
      settings,
      warnings: [...warnings, ...this.#concurrencyWarning(plan.concurrentTrials)],
    })
    if (!isNew) throw nameTaken(name ?? '')
    const enqueued = this.#enqueue(id, account)
    // A job of thousands of tasks is returned before they are read.
    await Promise.race([enqueued, delay(responseMs, undefined, { ref: false })])
    return this.get(account, id)
  }

  /** Throws 404, or 409 for a job that has ended otherwise. */
  cancel(account: string, id: string): BenchmarkJob {
    const { state } = this.get(account, id)
    if (state !== 'cancelled' && hasJobEnded(state))
      throw new ServiceError('conflict', `The job is ${state} and can no longer be canceled`, {
        shouldRetry: false,
      })
    const active = this.#active.get(id)
    if (active) active.job.cancel()
    else if (state !== 'cancelled') {
      this.#queue = this.#queue.filter((each) => each.id !== id)
      this.#options.store.benchmarkJobs.move(id, 'cancelled', Date.now(), null)
    }
    return this.get(account, id)
  }

  setConcurrency(account: string, id: string, trials: number): BenchmarkJob {
    const { benchmarkJobs } = this.#options.store
    const { state } = this.get(account, id)
    if (hasJobEnded(state))
      throw new ServiceError('conflict', `The job is ${state}; no more trials will run`, { shouldRetry: false })
    const { plan, spec, warnings } = benchmarkJobs.record<JobPlan>(id)
    const orchestrator_config = { ...spec.orchestrator_config, n_concurrent_trials: trials }
    benchmarkJobs.plan(id, {
      spec: { ...spec, orchestrator_config },
      plan: { ...plan, concurrentTrials: trials },
      warnings: [
        ...warnings.filter(({ sentence }) => !sentence.startsWith(concurrencyField)),
        ...this.#concurrencyWarning(trials),
      ],
    })
    this.#active.get(id)?.job.setConcurrency(trials)
    return this.get(account, id)
  }

  #concurrencyWarning(trials: number): JobWarning[] {
    if (trials <= this.#maxTrials) return []
    const sentence = `${concurrencyField} is ${trials}, but this service runs at most ${this.#maxTrials} trials at once (--max-trials)`
    return [{ sentence, tasks: [] }]
  }

  async #enqueue(id: string, account: string): Promise<void> {
    const { benchmarkJobs, scenarios } = this.#options.store
    try {
      const { plan: known } = benchmarkJobs.record<JobPlan>(id)
      if (known.harbor?.unread?.length) {
        const { plan, warnings } = await readPlannedTasks(scenarios, account, known, {
          hasImages: this.#options.images !== undefined,
        })
        if (this.#closing.signal.aborted || hasEnded(this.#options, id)) return
        const scenario_ids = plan.scenarios.map((scenario) => scenario.id)
        // Another request may have changed the concurrency.
        const { plan: changed, spec } = benchmarkJobs.record<JobPlan>(id)
        const { concurrentTrials } = changed
        benchmarkJobs.plan(id, {
          spec: { ...spec, scenario_ids },
          plan: { ...plan, concurrentTrials },
          warnings: [...warnings, ...this.#concurrencyWarning(concurrentTrials)],
        })
      }
      this.#queue.push({ id, account })
      setImmediate(() => this.#startNext())
    } catch (error) {
      if (this.#closing.signal.aborted) return
      this.#options.log({ message: `The tasks of job ${id} could not be read`, error: String(error) })
      const reason = `The tasks could not be read: ${error instanceof Error ? error.message : error}`
      if (!hasEnded(this.#options, id)) benchmarkJobs.move(id, 'failed', Date.now(), reason)
    }
  }

  #requireNameAndLimit(account: string, name: string | null | undefined) {
    const { benchmarkJobs } = this.#options.store
    if (name?.trim() && benchmarkJobs.isNameTaken(account, name.trim())) throw nameTaken(name)
    if (benchmarkJobs.countUnended(account) >= maxUnendedJobs)
      throw new ServiceError('rate_limited', `The account already has ${maxUnendedJobs} unfinished jobs`, {
        retryAfterSeconds: 60,
        shouldRetry: false,
      })
  }

  /** Unspecified: the name of a job without one. The job file's name, made unique, or the time. */
  #freeName(account: string, { name }: PlannedJob): string {
    const wanted = name ?? `job-${new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19)}`
    const isTaken = this.#options.store.benchmarkJobs.isNameTaken(account, wanted)
    return isTaken ? `${wanted}-${randomBytes(4).toString('hex')}` : wanted
  }

  #startNext() {
    if (this.#closing.signal.aborted) return
    this.#queue = this.#queue.filter(({ id, account }) => {
      const running = [...this.#active.values()].filter((each) => each.account === account)
      if (running.length >= maxRunningJobs) return true
      this.#start(id, account)
      return false
    })
  }

  #start(id: string, account: string) {
    const record: JobRecord<JobPlan> = this.#options.store.benchmarkJobs.record(id)
    const job = new RunningJob(this.#deps, record, this.#closing.signal)
    const cancelTimer = at(record.create_time_ms + maxJobSeconds * 1000, () => job.timeOut(maxJobSeconds))
    const done = job.work().finally(() => {
      cancelTimer()
      this.#active.delete(id)
      this.#startNext()
    })
    this.#active.set(id, { account, name: record.name, job, done })
  }

  readonly #runEnded = (runId: string) => {
    const jobId = this.#options.store.benchmarkRuns.record(runId)?.job_id
    if (jobId) this.#active.get(jobId)?.job.runEnded(runId)
  }
}

const concurrencyField = 'n_concurrent_trials'

/** Unspecified: a name that another job has. Names are unique, so this is a conflict. */
const nameTaken = (name: string) =>
  new ServiceError('conflict', `name: a job named ${JSON.stringify(name.trim())} already exists`, {
    field: 'name',
    shouldRetry: false,
  })

type Spec = Exclude<BenchmarkJobSpec, { type: 'harbor' }>
type Report = (field: string, message: string) => void
type PlanStore = Pick<Stores, 'benchmarks' | 'scenarios' | 'secrets'>

/** Plans a job from scenarios or a benchmark. Throws one 400 with every problem. */
const planScenarios = (store: PlanStore, account: string, spec: Spec, namedAgents: NamedAgents): PlannedJob => {
  const problems: FieldProblem[] = []
  const report: Report = (field, message) => problems.push({ field: `spec.${field}`, message })
  const { ids, scenarios, benchmark } = scenariosOf(store, account, spec, report)
  const { agents, definitions } = agentsOf(store, account, spec, namedAgents, {
    requirers: [...scenarios, ...(benchmark ? [benchmark] : [])],
    report,
  })
  const orchestrator = orchestratorOf(spec, report)
  if (problems.length > 0) throw planError(problems)
  const trials = ids.length * agents.length
  if (trials > maxTrialsPerJob)
    throw planError([{ field: 'spec', message: `makes ${trials} trials; the limit is ${maxTrialsPerJob}` }])
  return {
    name: null,
    warnings: [],
    source:
      spec.type === 'benchmark'
        ? { type: 'benchmark', benchmark_id: spec.benchmark_id, benchmark_name: benchmark?.name ?? null }
        : { type: 'scenarios', scenario_ids: spec.scenario_ids },
    spec: { scenario_ids: [...ids], agent_configs: agents, orchestrator_config: orchestrator },
    settings: settingsOf({ environment: devboxEnvironment }),
    plan: {
      scenarios: scenarios.map(({ id, name }) => ({ id, name })),
      attempts: 1,
      concurrentTrials: orchestrator.n_concurrent_trials,
      // Here n_attempts counts retries on failure; in Harbor it counts attempts.
      retry: { ...retryAnyFailure, maxRetries: orchestrator.n_attempts },
      timeoutMultiplier: orchestrator.timeout_multiplier,
      benchmarkId: benchmark?.id ?? null,
      agents: definitions,
      harbor: null,
    },
  }
}

const scenariosOf = (store: PlanStore, account: string, spec: Spec, report: Report) => {
  const benchmark = spec.type === 'benchmark' ? store.benchmarks.get(account, spec.benchmark_id) : undefined
  if (spec.type === 'benchmark') {
    if (!benchmark) report('benchmark_id', `there is no benchmark ${JSON.stringify(spec.benchmark_id)}`)
    else if (benchmark.status === 'archived') report('benchmark_id', `benchmark ${benchmark.id} is archived`)
    else if (benchmark.scenarioIds.length === 0) report('benchmark_id', `benchmark ${benchmark.id} has no scenarios`)
  }
  const ids = spec.type === 'benchmark' ? (benchmark?.scenarioIds ?? []) : spec.scenario_ids
  const fieldOf = (i: number) => (spec.type === 'benchmark' ? 'benchmark_id' : `scenario_ids[${i}]`)
  if (spec.type === 'scenarios' && ids.length === 0) report('scenario_ids', 'must list at least one scenario')
  if (ids.length > maxScenarios) report('scenario_ids', `must list at most ${maxScenarios} scenarios`)
  const scenarios: Scenario[] = []
  for (const [i, id] of ids.entries()) {
    const scenario = store.scenarios.get(account, id)
    if (ids.indexOf(id) < i) report(fieldOf(i), `lists scenario ${id} twice; use n_attempts to repeat scenarios`)
    else if (!scenario) report(fieldOf(i), `there is no scenario ${JSON.stringify(id)}`)
    else if (scenario.status === 'archived') report(fieldOf(i), `scenario ${id} is archived`)
    else scenarios.push(scenario)
  }
  return { ids, scenarios, benchmark }
}

const agentsOf = (
  store: PlanStore,
  account: string,
  spec: Spec,
  namedAgents: NamedAgents,
  { requirers, report }: { requirers: readonly Parameters<typeof unmetNeeds>[0][]; report: Report },
) => {
  const agents = [...spec.agent_configs]
  const definitions: (AgentDefinition | null)[] = []
  const hasSecret = (name: string) => store.secrets.missing(account, [name]).length === 0
  if (agents.length === 0) report('agent_configs', 'must list at least one agent')
  if (agents.length > maxAgents) report('agent_configs', `must list at most ${maxAgents} agents`)
  for (const [i, agent] of agents.slice(0, maxAgents).entries()) {
    const reportHere: Report = (field, message) => report(`agent_configs[${i}].${field}`, message)
    for (const { field, message } of agentProblems(agent, namedAgents)) reportHere(field, message)
    const definition = agent.kwargs?.command === undefined ? (namedAgents.find(agent.name)?.definition ?? null) : null
    definitions.push(definition)
    const given = profileOf(agent)
    const [variables, secrets] = [given.envVars ?? {}, given.secrets ?? {}]
    const needed = definition && secretsFor(definition, { modelName: agent.model_name, variables, secrets }, hasSecret)
    for (const { field, message } of needed?.problems ?? [])
      reportHere(field === 'secrets' ? 'agent_environment.secrets' : field, message)
    const profile = { ...given, secrets: { ...needed?.secrets, ...secrets } }
    // The job's record lists the secrets, whoever chose them.
    if (needed && Object.keys(needed.secrets).length > 0)
      agents[i] = { ...agent, agent_environment: { ...agent.agent_environment, secrets: profile.secrets } }
    const missing = store.secrets.missing(account, [...new Set(Object.values(profile.secrets ?? {}))])
    for (const name of missing) reportHere('agent_environment.secrets', `there is no secret ${name}`)
    const unmet = requirers.flatMap((each) => unmetNeeds(each, profile))
    for (const message of new Set(unmet.map((each) => each.message))) reportHere('agent_environment', message)
  }
  return { agents, definitions }
}

const orchestratorOf = ({ orchestrator_config }: Spec, report: Report) => {
  const { n_concurrent_trials, n_attempts, timeout_multiplier, quiet } = orchestrator_config ?? {}
  const config = {
    n_concurrent_trials: n_concurrent_trials ?? 1,
    n_attempts: n_attempts ?? 0,
    timeout_multiplier: timeout_multiplier ?? 1,
    quiet: quiet ?? false,
  }
  for (const [field, { min, max }] of Object.entries(ranges)) {
    const value = config[field as keyof typeof ranges]
    if (!(value >= min && value <= max))
      report(`orchestrator_config.${field}`, `must be a number from ${min} to ${max}`)
  }
  return config
}

/** Unspecified: the limits of a job. */
const maxScenarios = 5000
const maxAgents = 64
const ranges = {
  n_concurrent_trials: { min: 1, max: maxConcurrentTrials },
  n_attempts: { min: 0, max: 100 },
  timeout_multiplier: { min: 0.001, max: 1000 },
} as const

/** Unspecified: the delay of a retry. One second, Harbor's default. */
const retryAnyFailure: Omit<RetryPolicy, 'maxRetries'> = {
  include: null,
  exclude: [],
  waitMultiplier: 1,
  minWaitSeconds: 1,
  maxWaitSeconds: 60,
}
