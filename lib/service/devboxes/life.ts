import { existsSync } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasRun, keepsDisk } from '#lib/contract/devboxes.ts'
import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import type { LogSource } from '#lib/contract/logs.ts'
import { type DevboxEvent, idlePolicy, keepAliveUntil } from '#lib/service/domain/devboxes.ts'
import { suspendDeadlineMs } from '#lib/service/domain/launch-parameters.ts'
import { type Engine, markers, type RunningDevbox, type Sandbox } from '#lib/service/engine/engine.ts'
import type { Pipes } from '#lib/service/engine/pipes.ts'
import { killProcesses } from '#lib/service/engine/process/plain-process.ts'
import { signalExitStatus } from '#lib/service/engine/processes.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { hasDescriptorsFor } from '#lib/service/kit/descriptors.ts'
import { isDiskFull } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import type { Slots } from '#lib/service/kit/slots.ts'
import { at } from '#lib/service/kit/timer.ts'
import { untilStored } from '#lib/service/kit/until-stored.ts'
import type { DevboxRecord, DevboxStore } from '#lib/service/store/devboxes.ts'
import type { DevboxLogs } from '#lib/service/store/logs/logs.ts'
import type { NetworkPolicyStore } from '#lib/service/store/network-policies.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import { makeDisk, removeFolder } from './mounts.ts'
import { runSetupCommand } from './setup-command.ts'
import { sandboxSpecOf } from './site.ts'
import type { Snapshots } from './snapshots.ts'

const settleMs = 100
/** A disk with less room left than this counts as full. */
const fullBytes = 8 * 2 ** 20
// The status of a process that wrote more to a file than its devbox may have of the disk.
const fileTooLargeStatus = signalExitStatus('SIGXFSZ')
// A kill for lack of memory counts as the cause when the devbox ends within this time after it.
const oomMemoryMs = 5000

type FailureReason = 'out_of_memory' | 'out_of_disk' | 'execution_failed' | 'health_check_failed'

export interface Reasons {
  failureReason?: FailureReason
  shutdownReason?: 'api_shutdown' | 'keep_alive_timeout' | 'entrypoint_exit' | 'idle'
}

export interface LifeOptions {
  store: DevboxStore
  secrets: SecretStore
  networkPolicies: NetworkPolicyStore
  snapshots: Snapshots
  logs: DevboxLogs
  pipes: Pipes
  engine: Engine
  serviceId: string
  dataDir: string
  folderOf: (devboxId: string) => string
  privateNetwork: boolean
}

/** What a life asks of `Devboxes`, which keeps the status of its devbox. */
interface Course {
  /** Resolves to the new status once it is stored; undefined when the event means nothing any more. */
  move(event: DevboxEvent, reasons?: Reasons): Promise<string | undefined>
  /** Has the processes ended, after a move to `failure`. */
  end(): void
  suspend(): void
  shutDown(reason: Reasons['shutdownReason']): void
}

/** A devbox from one start to the end of its processes. */
export class Life {
  readonly id: string
  readonly account: string
  readonly #options: LifeOptions
  readonly #course: Course
  readonly #parameters: LaunchParameters
  readonly #folder: string
  readonly #over = new AbortController()
  #env: Record<string, string> = {}
  #sandbox: Sandbox | undefined
  #started: Promise<void> = Promise.resolve()
  /** Commands, terminals and file operations that are going on. */
  #uses = 0
  #lastUsedMs = Date.now()
  #storedUseMs = 0
  /** Takes back the timer of the keep-alive time or of the idle rule. */
  #cancelTimer: () => void = () => undefined
  /** How many processes the kernel had killed for want of memory when they were last counted. */
  #oomKills = 0
  #oomKillMs = 0

  constructor({ id, account, launch_parameters }: DevboxRecord, options: LifeOptions, course: Course) {
    this.id = id
    this.account = account
    this.#parameters = launch_parameters
    this.#folder = options.folderOf(id)
    this.#options = options
    this.#course = course
  }

  /** Aborted once the processes are to end; a start that is not complete stops there. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  /** Brings the devbox to `running`, or to `failure`. `starts`: places among those that start at once. */
  start(starts: Slots): void {
    this.#started = this.#bringUp(starts).catch(async (error: unknown) => {
      if (this.over.aborted) return
      logFailure(`Devbox ${this.id} could not be started`)(error)
      this.#tell('error', `The devbox could not be started: ${error instanceof Error ? error.message : error}`)
      await this.#fail(isDiskFull(error) ? 'out_of_disk' : 'health_check_failed')
    })
  }

  /** What commands and terminals need; undefined before there is a sandbox. */
  get running(): RunningDevbox | undefined {
    if (!this.#sandbox) return undefined
    return { sandbox: this.#sandbox, env: this.#env, runFolder: join(this.#folder, 'run'), busy: () => this.#busy() }
  }

  /** The devbox was used at this moment. */
  touch(): void {
    this.#lastUsedMs = Date.now()
  }

  get lastUsedMs(): number {
    if (this.#uses > 0) this.touch()
    return this.#lastUsedMs
  }

  /** Whether the devbox was used since the last `markUseStored`. */
  get hasNewUse(): boolean {
    return this.lastUsedMs > this.#storedUseMs
  }

  markUseStored(): void {
    this.#storedUseMs = this.#lastUsedMs
  }

  /** Sets the one timer that ends or suspends the devbox unasked. */
  arm(): void {
    const { status, keep_alive_until_ms } = this.#options.store.mustFind(this.id)
    if (status !== 'running') return
    this.#cancelTimer()
    const idle = idlePolicy(this.#parameters)
    const until = keep_alive_until_ms ?? keepAliveUntil(this.#parameters, Date.now())
    if (idle) this.#armIdle(idle)
    else if (until !== null) {
      if (keep_alive_until_ms === null) this.#options.store.setKeepAliveUntil(this.id, until)
      this.#cancelTimer = at(until, () => this.#course.shutDown('keep_alive_timeout'))
    }
  }

  /** Unspecified: what a suspend command that fails means. The others run all the same, and the devbox is suspended. */
  async runSuspendCommands(): Promise<void> {
    this.#cancelTimer()
    const commands = this.#parameters.lifecycle?.lifecycle_hooks?.suspend_commands ?? []
    const sandbox = this.#sandbox
    if (!sandbox || commands.length === 0) return
    const deadline = AbortSignal.timeout(suspendDeadlineMs(this.#parameters))
    const stop = AbortSignal.any([deadline, this.over])
    const runAll = async () => {
      for (const command of commands) if (!stop.aborted) await this.#run(sandbox, 'setup_commands', command)
    }
    const aborted = new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([runAll(), stop.aborted || aborted]).catch(
      logFailure(`The suspend commands of devbox ${this.id} were broken off`),
    )
    if (deadline.aborted) this.#tell('warn', 'The suspend commands took too long and were ended')
  }

  /** From now on nothing is started, and no timer ends or suspends the devbox. */
  finish(): void {
    this.#over.abort()
    this.#cancelTimer()
  }

  /** Ends the processes. Twice while it is still starting: what is killed first may be what the start waits for. */
  async stopProcesses(): Promise<void> {
    await this.#sandbox?.stop()
    await this.#started
    await this.#sandbox?.stop()
    await killProcesses(markers({ serviceId: this.#options.serviceId, devboxId: this.id }))
  }

  /** Logs that the kernel has killed processes of the devbox for want of memory since they were last counted. */
  countKills(): void {
    const kills = this.#sandbox?.outOfMemoryKills() ?? 0
    if (kills <= this.#oomKills) return
    const more = kills - this.#oomKills
    this.#oomKills = kills
    this.#oomKillMs = Date.now()
    const { memoryGb } = resourcesOf(this.#parameters)
    const message = `Out of memory: the kernel ended ${countOf(more, 'process', 'processes')} at the limit of ${memoryGb} GiB`
    this.#options.logs.append(this.id, { level: 'error', source: 'kmsg', message })
  }

  async #bringUp(starts: Slots): Promise<void> {
    const { store, snapshots, secrets, engine } = this.#options
    const over = this.over
    const spec = store.mustFind(this.id)
    const { snapshot_id } = spec
    const restore = snapshot_id ? (home: string) => snapshots.restore(snapshot_id, home, { signal: over }) : undefined
    // An empty disk in place of a lost one would look like a devbox that is well.
    if (hasRun(spec) && !existsSync(join(this.#folder, 'home'))) throw new Error('its disk is not in the data folder')
    await makeDisk(this.#folder, restore)
    const sandboxSpec = sandboxSpecOf(spec, this.#options)
    const sandbox = await starts.run(over, async () => {
      await this.#course.move('provision')
      await removeFolder(sandboxSpec.run)
      await mkdir(sandboxSpec.run, { mode: 0o700 })
      over.throwIfAborted()
      // After a restart more may start than the limit of open files allows by now.
      if (!hasDescriptorsFor(1)) throw new Error('the service is short of file descriptors: raise `ulimit -n`')
      this.#sandbox = await engine.start(sandboxSpec, (sentence) => this.#tell('warn', sentence))
      return this.#sandbox
    })
    void sandbox.ended.then(() => {
      if (over.aborted) return
      this.#tell('error', 'The processes of the devbox were killed from outside')
      return this.#fail('health_check_failed')
    })
    if (over.aborted) return
    const revealed = secrets.reveal(spec.account, spec.secrets)
    for (const [name, secret] of Object.entries(spec.secrets))
      if (!Object.hasOwn(revealed, name)) this.#tell('warn', `There is no secret ${secret} any more, so no ${name}`)
    // Unspecified: which of the two a name has that is in both.
    this.#env = { ...spec.environment_variables, ...revealed }
    await this.#store('isolation', () =>
      store.setIsolation(this.id, { sandbox: engine.isolation, not_enforced: [...sandbox.notEnforced] }),
    )
    this.#tell('info', isolationWords[engine.isolation])
    for (const sentence of sandbox.notEnforced) this.#tell('warn', sentence)
    await this.#course.move(store.mustFind(this.id).status === 'resuming' ? 'resumed' : 'provisioned')
    for (const command of spec.launch_parameters.launch_commands ?? []) {
      const { ok, failureReason } = await this.#run(sandbox, 'setup_commands', command)
      if (over.aborted) return
      if (!ok) return this.#fail(failureReason)
    }
    this.#lastUsedMs = spec.last_used_ms ?? Date.now()
    if ((await this.#course.move('initialized')) === undefined) return
    await this.#store('keep-alive time', () => this.arm())
    if (spec.entrypoint) void this.#runEntrypoint(sandbox, spec.entrypoint)
  }

  /**
   * Unspecified: what the exit status of the entrypoint means. Whatever it is, the devbox has done its work and is shut
   * down; it fails only when memory or disk ran out.
   */
  async #runEntrypoint(sandbox: Sandbox, entrypoint: string) {
    const { ok, failureReason } = await this.#run(sandbox, 'entrypoint', entrypoint)
    if (this.over.aborted) return
    if (!ok && failureReason !== 'execution_failed') await this.#fail(failureReason)
    else this.#course.shutDown('entrypoint_exit')
  }

  /** Runs a launch or suspend command or the entrypoint to its end, into the log; and why it failed if it did. */
  async #run(sandbox: Sandbox, source: LogSource, command: string) {
    const kills = sandbox.outOfMemoryKills()
    const { logs, pipes } = this.#options
    const log = logs.command(this.id, { source, cmd: command })
    const runFolder = join(this.#folder, 'run')
    const exitStatus = await runSetupCommand({ sandbox, env: this.#env, runFolder, pipes, command, log })
    this.countKills()
    if (exitStatus === 0) return { ok: true, failureReason: undefined }
    return { ok: false, failureReason: await this.#failureReason(sandbox, kills, exitStatus) }
  }

  async #failureReason(sandbox: Sandbox, killsBefore: number, exitStatus: number): Promise<FailureReason> {
    if (sandbox.outOfMemoryKills() > killsBefore) return 'out_of_memory'
    if (exitStatus === fileTooLargeStatus || (await isFull(join(this.#folder, 'home')))) return 'out_of_disk'
    // A command whose devbox is gone under it fails as well, and may be heard of first.
    const hasExited = await Promise.race([sandbox.ended.then(() => true), delay(settleMs, false)])
    return hasExited ? 'health_check_failed' : 'execution_failed'
  }

  async #fail(reason: FailureReason = 'execution_failed') {
    if (this.over.aborted) return
    let failureReason = reason
    if (reason === 'health_check_failed') {
      this.countKills()
      if (Date.now() - this.#oomKillMs < oomMemoryMs) failureReason = 'out_of_memory'
      else if (await isFull(this.#folder)) failureReason = 'out_of_disk'
    }
    // Not awaited: the end waits for the start, which may be what failed and waits for this.
    if (!(await this.#course.move('fail', { failureReason }))) return
    if (keepsDisk(this.#options.store.mustFind(this.id)))
      this.#tell('info', 'The devbox failed and keeps its disk until it is shut down: resume it to continue')
    this.#course.end()
  }

  #busy(): () => void {
    this.#uses++
    this.touch()
    return () => {
      this.#uses--
      this.touch()
      this.countKills()
    }
  }

  /** Uses of the devbox do not touch the timer: when it is over it looks whether there was one. */
  #armIdle({ idle_time_seconds, on_idle }: NonNullable<ReturnType<typeof idlePolicy>>) {
    const wait = () => {
      const untilMs = this.lastUsedMs + idle_time_seconds * 1000
      this.#cancelTimer = at(untilMs, () => {
        if (this.lastUsedMs + idle_time_seconds * 1000 > Date.now()) wait()
        else if (on_idle === 'suspend') this.#course.suspend()
        else this.#course.shutDown('idle')
      })
    }
    wait()
  }

  #store(what: string, write: () => void) {
    const unlessOver = () => {
      if (!this.over.aborted) write()
    }
    return untilStored(unlessOver, `The ${what} of devbox ${this.id} could not be stored`, this.over)
  }

  #tell(level: 'info' | 'warn' | 'error', message: string) {
    this.#options.logs.append(this.id, { level, source: 'setup_commands', message })
  }
}

const isolationWords = {
  bubblewrap: 'Isolated by bubblewrap: own users, processes, network, files and host name; the system is read-only',
  none: 'Not isolated: its processes are those of the user the service runs as',
}

const isFull = async (folder: string): Promise<boolean> => {
  try {
    const { bavail, bsize, files, ffree } = await statfs(folder)
    return bavail * bsize < fullBytes || (files > 0 && ffree === 0)
  } catch {
    // The folder has gone with its devbox.
    return false
  }
}
