import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type BenchmarkJob, type BenchmarkJobCreate, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { invalid, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { at } from '#lib/service/kit/timer.ts'
import type { JobRecord, JobWarning } from '#lib/service/store/benchmark-jobs.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import { AgentInstalls } from './agents/installs.ts'
import type { NamedAgents } from './agents/named-agents.ts'
import type { BenchmarkRuns } from './benchmark-runs.ts'
import { Environments } from './environments.ts'
import { planHarborJob, readPlannedTasks } from './harbor/plan-job.ts'
import { createTrialSlots, type JobDeps, RunningJob } from './job.ts'
import type { JobPlan, PlannedJob } from './plan.ts'
import { planScenarios } from './plan-scenarios.ts'
import type { ScenarioRuns } from './scenario-runs.ts'
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
  isolation: 'bubblewrap' | 'none'
  datasetRoots: readonly string[]
  trialsAtOnce: number
  namedAgents: NamedAgents
  installFolder: string
  environmentFolder: string
  maxEnvironmentBytes: number
  strictEnvironments: boolean
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
  readonly #active = new Map<string, { account: string; job: RunningJob; done: Promise<void> }>()
  readonly #environments: Environments
  #queue: { id: string; account: string }[] = []

  constructor(options: Options) {
    this.#options = options
    const installs = new AgentInstalls({ ...options, folder: options.installFolder })
    const { environmentFolder: folder, devboxFolder, maxEnvironmentBytes: maxBytes, log } = options
    this.#environments = new Environments({ folder, devboxFolder, maxBytes, log })
    const runTrial = createRunTrial({ ...options, installs, environments: this.#environments })
    this.#deps = { ...options, runTrial, slots: createTrialSlots(options.trialsAtOnce) }
    options.benchmarkRuns.changes.on('state', this.#runEnded)
  }

  /** Resumes jobs after a restart; devboxes and scenario runs must have recovered first. */
  recover(): void {
    this.#environments.recover()
    const { benchmarkJobs } = this.#options.store
    for (const { id, account } of benchmarkJobs.unended()) void this.#enqueue(id, account)
  }

  async close(): Promise<void> {
    this.#options.benchmarkRuns.changes.off('state', this.#runEnded)
    this.#closing.abort()
    const all = Promise.allSettled([...this.#active.values()].map(({ done }) => done))
    await Promise.race([all, delay(closeMs, undefined, { ref: false })])
  }

  get(account: string, id: string): BenchmarkJob {
    return this.#options.store.benchmarkJobs.get(account, id) ?? notFound('benchmark job', id)
  }

  /** Throws 400 with all problems, 409 for a taken name, 429 at the job limit, 507 without disk space. */
  async create(account: string, { name, metadata, spec }: BenchmarkJobCreate): Promise<BenchmarkJob> {
    this.#options.quota.require(account)
    const { store, isolation, datasetRoots, namedAgents } = this.#options
    if (!spec) throw invalid({ field: 'spec', message: 'is required' })
    this.#requireNameAndLimit(account, name)
    const planned =
      spec.type === 'harbor'
        ? await planHarborJob({ datasetRoots, isolation, store, namedAgents }, account, spec.inline_yaml)
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
    const { trialsAtOnce } = this.#options
    if (trials <= trialsAtOnce) return []
    const sentence = `${concurrencyField} is ${trials}, but this service runs at most ${trialsAtOnce} trials at once (--max-trials)`
    return [{ sentence, tasks: [] }]
  }

  async #enqueue(id: string, account: string): Promise<void> {
    const { benchmarkJobs, scenarios } = this.#options.store
    try {
      const { plan: known } = benchmarkJobs.record<JobPlan>(id)
      if (known.harbor?.unread?.length) {
        const { plan, warnings } = await readPlannedTasks(scenarios, account, known)
        if (this.#closing.signal.aborted || hasJobEnded(benchmarkJobs.record(id).state)) return
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
      if (!hasJobEnded(benchmarkJobs.record(id).state)) benchmarkJobs.move(id, 'failed', Date.now(), reason)
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
    this.#active.set(id, { account, job, done })
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
