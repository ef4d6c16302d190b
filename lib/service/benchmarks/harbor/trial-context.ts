import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { type AgentRecord, nodeLost, type RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import type { ImageRun } from '#lib/service/engine/box.ts'
import { machine } from '#lib/service/engine/bubblewrap/system.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import type { AgentDefinition } from '../agents/definition.ts'
import type { AgentInstalls } from '../agents/installs.ts'
import type { Environments } from '../environments.ts'
import { asException, type Outcome, type Rewards, TrialError, type Warning } from '../outcome.ts'
import type { HarborAgent, HarborScenario, HarborSettings } from '../plan.ts'
import { createScrubber } from '../scrub.ts'
import { type SavedFile, saveFiles } from '../transfer.ts'
import type { Workbench } from '../workbench.ts'
import { checksumOf } from './datasets.ts'
import type { TaskImages } from './images/task-images.ts'
import type { Reveal } from './templates.ts'

export interface TrialDeps {
  devboxes: Devboxes
  executions: Executions
  secrets: Pick<SecretStore, 'reveal'>
  folderOf: (devboxId: string) => string
  installs: AgentInstalls
  environments: Environments
  /** Undefined without a container engine. */
  images: TaskImages | undefined
}

export interface TrialOptions {
  scenarioRunId: string
  scenario: HarborScenario
  agent: HarborAgent
  settings: HarborSettings
  /** From 1. */
  attempt: number
  folder: string
  account: string
  /** Null for oracle, nop and command. */
  definition: AgentDefinition | null
  /** Settings of the job file that are ignored. */
  warnings: readonly string[]
  /** Whether the trial fails if its environment differs from the task's. */
  strictEnvironments: boolean
  /** Aborting it cancels the trial, which still resolves. */
  signal: AbortSignal
  ownSeconds?: number
  onDevbox?: (devboxId: string, isVerifier: boolean) => void
}

export interface StartLimit {
  seconds: number
  error: Error
}

/** What the container of a trial runs, once its images are built. */
export interface TaskContainer {
  image: string
  run: ImageRun
  workdir: string
  /** Null for root. */
  user: string | null
  /** Variables of its commands; those of a compose file are the container's own. */
  env: Record<string, string>
}

export interface TrialDevbox {
  id: string
  workbench: Workbench
  startLimit: StartLimit
  /** Set if it runs an image; otherwise the environment is built inside. */
  container?: TaskContainer
}

export class TrialContext {
  readonly deps: TrialDeps
  readonly options: TrialOptions
  readonly log: TrialLog
  #lostNode: string | undefined

  constructor(deps: TrialDeps, options: TrialOptions) {
    this.deps = deps
    this.options = options
    this.log = new TrialLog(options)
  }

  /** Reads secrets of the account and masks them in the log. */
  readonly reveal: Reveal = (secrets) => {
    const values = this.deps.secrets.reveal(this.options.account, secrets)
    this.log.hide(Object.values(values))
    return values
  }

  async phase<T>(phase: TrialPhase, work: () => Promise<T>): Promise<T> {
    this.options.signal.throwIfAborted()
    const done = this.log.begin(phase)
    try {
      return await work()
    } finally {
      done()
    }
  }

  /** A task edited after the job was created would be another task under the same name. */
  async requireUnchangedTask(): Promise<void> {
    const { name, path, checksum } = this.options.scenario
    if ((await checksumOf(path)) !== checksum)
      throw new TrialError('TaskChangedError', `Task ${name} changed after the job was created; create a new job`)
  }

  requireSameEnvironment(): void {
    const differences = this.log.warnings.filter(({ differs }) => differs).map(({ sentence }) => sentence)
    if (this.options.strictEnvironments && differences.length > 0)
      throw new TrialError(
        'EnvironmentDiffersError',
        `The environment differs from the task's: ${differences.join('; ')}`,
      )
  }

  /** Records whether the node of a devbox is lost, before the devbox is shut down. */
  async checkNode(devboxId: string): Promise<void> {
    if (!this.options.signal.aborted) this.#lostNode ??= await this.deps.devboxes.lostNode(devboxId)
  }

  /** Takes the place of other failures, which it may have caused. */
  get nodeFailure(): RunFailure | undefined {
    return this.#lostNode === undefined ? undefined : { exception_type: nodeLost, exception_message: this.#lostNode }
  }

  exceptionOf(error: unknown): RunFailure {
    return this.options.signal.aborted
      ? { exception_type: 'CancelledError', exception_message: 'The trial was canceled' }
      : asException(error)
  }

  /** The user of a phase; null for root, and where devboxes have a single user. */
  async userOf(phaseUser: string | null, imageUser: string | null): Promise<string | null> {
    return this.deps.images || (await machine()).hasUsers ? (phaseUser ?? imageUser) : null
  }

  /** Saves a folder below /logs. */
  async saveLogs({ id, workbench, container }: TrialDevbox, { from, to }: Saved, signal?: AbortSignal): Promise<void> {
    if (!container) return this.log.save(join(this.deps.folderOf(id), 'root', 'logs', from), to, signal)
    try {
      await this.log.save(workbench.files(join('/logs', from)), to, signal)
    } catch (error) {
      this.log.say(`The logs could not be saved: ${(error as Error).message}`)
    }
  }

  async close(devbox: TrialDevbox, saved: Saved): Promise<void> {
    const { id, workbench } = devbox
    const { account, signal } = this.options
    this.deps.environments.buildEnded(id, { canceled: signal.aborted })
    try {
      // The command of a canceled trial would keep writing logs.
      await workbench.stop()
      const timeout = signal.aborted ? AbortSignal.timeout(cancelSaveMs) : undefined
      await this.saveLogs(devbox, saved, timeout)
    } finally {
      await this.deps.devboxes.shutdown(account, id, { force: true })
    }
  }
}

interface Saved {
  from: string
  to: string
}

/** The caller that cancels waits for this. */
const cancelSaveMs = 2000

type TrialPhase = 'environment_setup' | 'agent_setup' | 'agent_execution' | 'verifier'

interface Step {
  step_name: string | null
  verifier_result: { rewards: Rewards } | null
  exception_info: ReturnType<typeof infoOf> | null
}

class TrialLog {
  readonly #trial: TrialOptions
  readonly #startedAt = new Date().toISOString()
  readonly #lines: string[] = []
  readonly #phases: Record<TrialPhase, { started_at: string; finished_at: string | null } | null> = {
    environment_setup: null,
    agent_setup: null,
    agent_execution: null,
    verifier: null,
  }
  readonly #secrets = new Set<string>()
  readonly #steps: Step[] = []
  readonly #warnings: Warning[] = []
  readonly #name: string
  #traceback = ''
  #exception: RunFailure | null = null

  constructor(trial: TrialOptions) {
    this.#trial = trial
    const last = trial.scenario.name.split('/').at(-1) ?? ''
    this.#name = `${last.slice(0, 32).replace(/[_-]+$/, '')}__${trial.scenarioRunId.slice(-7)}`
    this.say(`Trial ${this.#name}: attempt ${trial.attempt} of agent ${trial.agent.name}`)
  }

  /** The first failure. Harbor continues with the verifier after some. */
  get exception(): RunFailure | null {
    return this.#exception
  }

  say(sentence: string) {
    this.#lines.push(`${new Date().toISOString()} ${sentence}`)
  }

  warn(warning: Warning) {
    this.say(`WARNING ${warning.sentence}${warning.differs ? ' (environment differs)' : ''}`)
    // The environments of a task and its verifier may have the same difference.
    if (!this.#warnings.some(({ sentence }) => sentence === warning.sentence)) this.#warnings.push(warning)
  }

  get warnings(): readonly Warning[] {
    return this.#warnings
  }

  hide(values: readonly string[]) {
    for (const value of values) this.#secrets.add(value)
  }

  /** Command output and reward names may contain secrets, too. */
  withoutSecrets<T extends Pick<Result, 'rewards'> & Outcome>(result: T): T {
    const { text } = this.#scrubber()
    const { failure_reason, rewards } = result
    return {
      ...result,
      failure_reason: failure_reason && {
        ...failure_reason,
        exception_message: text(failure_reason.exception_message),
      },
      rewards: rewards && Object.fromEntries(Object.entries(rewards).map(([name, value]) => [text(name), value])),
    }
  }

  /** Returns a function that records the end. A phase of several steps lasts from the first start to the last end. */
  begin(phase: TrialPhase): () => void {
    this.say(`${phase} starts`)
    const times = this.#phases[phase] ?? { started_at: new Date().toISOString(), finished_at: null }
    this.#phases[phase] = times
    return () => {
      times.finished_at = new Date().toISOString()
      this.say(`${phase} ended`)
    }
  }

  beginStep(name: string) {
    this.say(`Step ${name}`)
    this.#steps.push({ step_name: name, verifier_result: null, exception_info: null })
  }

  reward(rewards: Rewards) {
    this.say(`Rewards: ${JSON.stringify(rewards)}`)
    const step = this.#steps.at(-1)
    if (step) step.verifier_result = { rewards }
  }

  fail(exception: RunFailure, error: unknown) {
    this.say(`${exception.exception_type}: ${exception.exception_message}`)
    const step = this.#steps.at(-1)
    if (step) step.exception_info = infoOf(exception, '')
    if (this.#exception) return
    this.#exception = exception
    this.#traceback = error instanceof Error ? (error.stack ?? '') : ''
  }

  async save(from: string | AsyncIterable<SavedFile>, to: string, signal?: AbortSignal): Promise<void> {
    await saveFiles(from, join(this.#trial.folder, to), {
      scrubber: this.#scrubber(),
      ...(signal && { signal }),
      omit: (path, reason) => this.say(`${join(to, path)} is not saved: ${reason}`),
    }).catch((error: unknown) => this.say(`Some logs could not be saved: ${(error as Error).message}`))
  }

  async write({ rewards, exception, outcome, agent: trace, engine }: Result): Promise<void> {
    const { scenarioRunId, scenario, agent, attempt, settings } = this.#trial
    const result = {
      id: scenarioRunId,
      task_name: scenario.name,
      trial_name: this.#name,
      task_id: { path: scenario.name },
      source: scenario.source,
      task_checksum: scenario.checksum,
      attempt,
      agent_info: { name: agent.name, version: trace.version ?? '1.0.0', model_info: modelInfo(agent.modelName) },
      agent_result: {
        n_input_tokens: trace.usage.n_input_tokens,
        n_cache_tokens: trace.usage.n_cache_tokens,
        n_output_tokens: trace.usage.n_output_tokens,
        cost_usd: trace.usage.cost_usd,
        metadata: null,
      },
      verifier_result: rewards && { rewards },
      exception_info: exception && infoOf(exception, this.#traceback),
      outcome,
      warnings: this.#warnings.map(({ sentence }) => sentence),
      environment_differs: this.#warnings.some(({ differs }) => differs),
      engine,
      started_at: this.#startedAt,
      finished_at: new Date().toISOString(),
      ...this.#phases,
      step_results: this.#steps.length === 0 ? null : this.#steps,
    }
    const config = { task: scenario.name, agent: { ...agent, env: agent.env.secrets }, settings, attempt }
    await this.#file('result.json', JSON.stringify(result, null, 2))
    await this.#file('config.json', JSON.stringify(config, null, 2))
    if (exception) await this.#file('exception.txt', `${exception.exception_type}: ${exception.exception_message}\n`)
    await this.#file('trial.log', this.#lines.map((line) => `${line}\n`).join(''))
  }

  async #file(name: string, text: string) {
    const { folder } = this.#trial
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, name)
    // The agent may have created a file or folder of that name.
    await rm(file, { recursive: true, force: true })
    await writeFile(file, this.#scrubber().text(text), { mode: 0o600 })
  }

  #scrubber() {
    return createScrubber([...this.#secrets])
  }
}

interface Result {
  rewards: Rewards | null
  exception: RunFailure | null
  outcome: Outcome
  agent: AgentRecord
  engine: string | null
}

const infoOf = ({ exception_type, exception_message }: RunFailure, traceback: string) => ({
  exception_type,
  exception_message,
  exception_traceback: traceback,
  occurred_at: new Date().toISOString(),
})

const modelInfo = (modelName: string | null) => {
  if (modelName === null) return null
  const slash = modelName.indexOf('/')
  return { name: modelName.slice(slash + 1), provider: slash === -1 ? null : modelName.slice(0, slash) }
}
