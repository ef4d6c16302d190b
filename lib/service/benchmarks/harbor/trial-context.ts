import { join } from 'node:path'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import type { RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import { machine } from '#lib/service/engine/bubblewrap/system.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import type { AgentDefinition } from '../agents/definition.ts'
import type { AgentInstalls } from '../agents/installs.ts'
import type { Environments } from '../environments.ts'
import { asException, TrialError } from '../outcome.ts'
import { Workbench } from '../workbench.ts'
import { checksumOf } from './datasets.ts'
import { type BuiltEnvironment, buildEnvironment, openDevbox } from './environment.ts'
import type { TaskEnvironment } from './task-environment.ts'
import type { Reveal } from './templates.ts'
import { type LoggedTrial, TrialLog, type TrialPhase } from './trial-log.ts'

export interface TrialDeps {
  devboxes: Devboxes
  executions: Executions
  secrets: Pick<SecretStore, 'reveal'>
  folderOf: (devboxId: string) => string
  installs: AgentInstalls
  environments: Environments
}

export interface TrialOptions extends LoggedTrial {
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
  onDevbox?: (devboxId: string) => void
}

export interface TrialDevbox {
  id: string
  workbench: Workbench
}

export class TrialContext {
  readonly deps: TrialDeps
  readonly options: TrialOptions
  readonly log: TrialLog

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

  async openDevbox(name: string, environment: TaskEnvironment | undefined): Promise<TrialDevbox> {
    const id = await openDevbox(this.deps, { ...this.options, name }, environment)
    return { id, workbench: new Workbench({ ...this.deps, ...this.options, devboxId: id }) }
  }

  async build({ id, workbench }: TrialDevbox, environment: TaskEnvironment): Promise<BuiltEnvironment> {
    const { environments, folderOf } = this.deps
    const built = await buildEnvironment(workbench, environment, {
      ...this.options,
      environments,
      devboxFolder: folderOf(id),
      reveal: this.reveal,
      warn: (warning) => this.log.warn(warning),
      onBuilt: () => {
        environments.buildEnded(id)
        this.requireSameEnvironment()
      },
    })
    this.requireSameEnvironment()
    return built
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

  exceptionOf(error: unknown): RunFailure {
    return this.options.signal.aborted
      ? { exception_type: 'CancelledError', exception_message: 'The trial was canceled' }
      : asException(error)
  }

  logsFolder(devboxId: string): string {
    return join(this.deps.folderOf(devboxId), 'root', 'logs')
  }

  async close({ id, workbench }: TrialDevbox, { from, to }: { from: string; to: string }): Promise<void> {
    const { account, signal } = this.options
    this.deps.environments.buildEnded(id, { canceled: signal.aborted })
    try {
      // The command of a canceled trial would keep writing logs.
      await workbench.stop()
      const timeout = signal.aborted ? AbortSignal.timeout(cancelSaveMs) : undefined
      await this.log.save(join(this.logsFolder(id), from), to, timeout)
    } finally {
      await this.deps.devboxes.shutdown(account, id, { force: true })
    }
  }
}

/** The user of a phase; null for root, and where devboxes have a single user. */
export const userOf = async (phaseUser: string | null, imageUser: string | null): Promise<string | null> =>
  (await machine()).hasUsers ? (phaseUser ?? imageUser) : null

/** The caller that cancels waits for this. */
const cancelSaveMs = 2000
