import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type DevboxCreate, hasRun, keepsDisk } from '#lib/contract/devboxes.ts'
import { type LaunchParameters, resourcesOf } from '#lib/contract/launch-parameters.ts'
import type { LogSource } from '#lib/contract/logs.ts'
import { type DevboxEvent, hostnameFor, idlePolicy, keepAliveUntil } from '#lib/service/domain/devboxes.ts'
import { networkUnder, suspendDeadlineMs, userOf } from '#lib/service/domain/launch-parameters.ts'
import { placementIn } from '#lib/service/domain/placement.ts'
import type {
  BlueprintOrigin,
  Box,
  BoxEnd,
  BoxEngine,
  BoxSpec,
  Held,
  Network,
  RunningDevbox,
} from '#lib/service/engine/box.ts'
import { NodeLost } from '#lib/service/engine/node-lost.ts'
import { followProcess, runScript, type Stream } from '#lib/service/engine/run-script.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { hasDescriptorsFor } from '#lib/service/kit/descriptors.ts'
import { isDiskFull, ServiceError } from '#lib/service/kit/errors.ts'
import { signalExitStatus } from '#lib/service/kit/exit-status.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import type { Slots } from '#lib/service/kit/slots.ts'
import { at } from '#lib/service/kit/timer.ts'
import { untilStored } from '#lib/service/kit/until-stored.ts'
import type { Snapshots } from '#lib/service/snapshots/snapshots.ts'
import type { BlueprintRecord } from '#lib/service/store/blueprints.ts'
import type { DevboxRecord, DevboxStore } from '#lib/service/store/devboxes.ts'
import type { DevboxLogs } from '#lib/service/store/logs/logs.ts'
import type { NetworkPolicyStore } from '#lib/service/store/network-policies.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import { readSetup, type SetupStep, setupFile } from './agent-setup.ts'
import { removeStaged } from './mounts.ts'
import { readOrigin, writeOrigin } from './origin.ts'

const settleMs = 100
const notStarted = 126
const retryMs = 1000
const entrypointHold = 'entrypoint'
const fileTooLargeStatus = signalExitStatus('SIGXFSZ')
// An out-of-memory kill counts as the cause of a failure within this time.
const oomMemoryMs = 5000

type FailureReason = 'out_of_memory' | 'out_of_disk' | 'execution_failed' | 'health_check_failed' | 'node_lost'

export interface Reasons {
  failureReason?: FailureReason
  shutdownReason?: 'api_shutdown' | 'keep_alive_timeout' | 'entrypoint_exit' | 'idle'
}

export type EngineOf = (devbox: Pick<DevboxRecord, 'engine'>) => BoxEngine

interface Blueprints {
  /** The blueprint that a new devbox starts from. Throws 404, or 400 unless it is built. */
  forDevbox(account: string, body: DevboxCreate): BlueprintRecord | undefined
  imageOf(id: string): string | null
  metadataOf(id: string): Record<string, string>
  /** A blueprint that was built on this host. */
  onHost(id: string): Promise<{ env: Record<string, string>; origin: BlueprintOrigin }>
}

export interface SessionOptions {
  store: DevboxStore
  secrets: SecretStore
  networkPolicies: NetworkPolicyStore
  snapshots: Snapshots
  blueprints: Blueprints
  logs: DevboxLogs
  engineOf: EngineOf
  executions: { holds(devboxId: string): string[] }
  terminals: { holds(devboxId: string): string[]; resume(devboxId: string, devbox: RunningDevbox): Promise<void> }
  serviceId: string
  dataDir: string
  folderOf: (devboxId: string) => string
  privateNetwork: boolean
}

interface RunOptions {
  env?: Record<string, string>
  hold?: string
  isContinued?: boolean
}

interface StartSlots {
  starts: Slots
  restores: Slots
}

interface SessionHost {
  move(event: DevboxEvent, reasons?: Reasons): Promise<string | undefined>
  /** Why the devbox is about to fail. */
  problem(sentence: string): void
  end(): void
  suspend(): void
  shutDown(reason: Reasons['shutdownReason']): void
}

export class DevboxSession {
  readonly id: string
  readonly account: string
  readonly #options: SessionOptions
  readonly #host: SessionHost
  readonly #parameters: LaunchParameters
  readonly #folder: string
  readonly #stopped = new AbortController()
  readonly stopped = this.#stopped.signal
  #env: Record<string, string> = {}
  #box: Box | undefined
  #isTakingOver = false
  #isDetached = false
  #isLeft = false
  #started: Promise<void> = Promise.resolve()
  #uses = 0
  #lastUsedMs = Date.now()
  #cancelTimer: () => void = () => undefined
  #oomKills = 0
  #oomKillMs = 0

  constructor({ id, account, launch_parameters }: DevboxRecord, options: SessionOptions, host: SessionHost) {
    this.id = id
    this.account = account
    this.#parameters = launch_parameters
    this.#folder = options.folderOf(id)
    this.#options = options
    this.#host = host
  }

  /** Starts once the previous session of the devbox has ended, because both use the same cgroup and folders. */
  start(slots: StartSlots, previousEnd: Promise<void> | undefined): void {
    this.#started = (async () => {
      await previousEnd
      if (!this.stopped.aborted) await this.#startUp(slots)
    })().catch(async (error: unknown) => {
      if (this.stopped.aborted) return
      logFailure(`Could not start devbox ${this.id}`)(error)
      const problem = error instanceof Error ? error.message : String(error)
      this.#log('error', `Could not start the devbox: ${problem}`)
      this.#host.problem(problem)
      const reason = error instanceof NodeLost ? 'node_lost' : 'health_check_failed'
      await this.#fail(isDiskFull(error) ? 'out_of_disk' : reason)
    })
  }

  get running(): RunningDevbox | undefined {
    return this.#box && !this.#isTakingOver ? this.#runningIn(this.#box) : undefined
  }

  #runningIn(box: Box): RunningDevbox {
    return { box, env: this.#env, busy: () => this.#busy() }
  }

  touch(): void {
    this.#lastUsedMs = Date.now()
  }

  get lastUsedMs(): number {
    if (this.#uses > 0) this.touch()
    return this.#lastUsedMs
  }

  arm(): void {
    const { status, keep_alive_until_ms } = this.#options.store.mustFind(this.id)
    if (status !== 'running') return
    this.#cancelTimer()
    const idle = idlePolicy(this.#parameters)
    const until = keep_alive_until_ms ?? keepAliveUntil(this.#parameters, Date.now())
    if (idle) this.#armIdle(idle)
    else if (until !== null) {
      if (keep_alive_until_ms === null) this.#options.store.setKeepAliveUntil(this.id, until)
      this.#cancelTimer = at(until, () => this.#host.shutDown('keep_alive_timeout'))
    }
  }

  /** Unspecified: a failing suspend command doesn't stop the others or the suspension. */
  async runSuspendCommands(): Promise<void> {
    this.#cancelTimer()
    const commands = this.#parameters.lifecycle?.lifecycle_hooks?.suspend_commands ?? []
    const box = this.#box
    if (!box || commands.length === 0) return
    const deadline = AbortSignal.timeout(suspendDeadlineMs(this.#parameters))
    const stop = AbortSignal.any([deadline, this.stopped])
    const runAll = async () => {
      for (const command of commands) if (!stop.aborted) await this.#run(box, 'setup_commands', command)
    }
    const aborted = new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([runAll(), stop.aborted || aborted]).catch(
      logFailure(`The suspend commands of devbox ${this.id} failed`),
    )
    if (deadline.aborted) this.#log('warn', 'The suspend commands timed out and were stopped')
  }

  finish(): void {
    this.#stopped.abort()
    this.#cancelTimer()
  }

  async stopProcesses(): Promise<void> {
    await this.#box?.stop()
    await this.#started
    await this.#box?.stop()
    const devbox = this.#options.store.find(this.id)
    if (this.#isLeft && !this.#box && devbox) await this.#options.engineOf(devbox).abandon?.(this.id)
  }

  countKills(): void {
    const kills = this.#box?.outOfMemoryKills() ?? 0
    if (kills <= this.#oomKills) return
    const more = kills - this.#oomKills
    this.#oomKills = kills
    this.#oomKillMs = Date.now()
    const { memoryGb } = resourcesOf(this.#parameters)
    const message = `Out of memory: the kernel killed ${countOf(more, 'process', 'processes')} at the ${memoryGb} GiB limit`
    this.#options.logs.append(this.id, { level: 'error', source: 'kmsg', message })
  }

  async #startUp({ starts, restores }: StartSlots): Promise<void> {
    const { store, blueprints, engineOf } = this.#options
    const stopped = this.stopped
    const spec = store.mustFind(this.id)
    const engine = engineOf(spec)
    const blueprint =
      spec.blueprint_id && spec.engine === 'local' ? await blueprints.onHost(spec.blueprint_id) : undefined
    const boxSpec = await this.#boxSpecOf(spec, blueprint?.origin)
    // Keeps the system from being removed as unused.
    if (blueprint) await writeOrigin(this.#folder, { origin: boxSpec.origin })
    const slots = ['snapshot', 'blueprint'].includes(boxSpec.origin.kind) && !boxSpec.hasRun ? restores : starts
    const box = await slots.run(stopped, async (onWaiting) => {
      await this.#host.move('provision')
      stopped.throwIfAborted()
      if (!hasDescriptorsFor(1)) throw new Error('the service is running out of file descriptors; raise `ulimit -n`')
      this.#box = await engine.start({ ...boxSpec, onWaiting }, (sentence) => this.#log('warn', sentence))
      return this.#box
    })
    await removeStaged(this.#folder)
    void box.ended.then((end) => this.#ended(end)).catch(logFailure(`Could not end devbox ${this.id}`))
    if (stopped.aborted) return
    this.#env = { ...blueprint?.env, ...this.#readEnv(spec) }
    await this.#storeNode(box)
    await this.#store('isolation', () =>
      store.setIsolation(this.id, { sandbox: engine.isolation, not_enforced: [...box.notEnforced] }),
    )
    this.#log('info', engine.description)
    for (const sentence of box.notEnforced) this.#log('warn', sentence)
    await this.#host.move('provisioned')
    const setup = await readSetup(this.#folder)
    const launch = (spec.launch_parameters.launch_commands ?? []).map((command): SetupStep => ({ command }))
    for (const { command, env } of [...setup, ...launch]) {
      const { ok, failureReason } = await this.#run(box, 'setup_commands', command, { ...(env && { env }) })
      if (stopped.aborted) return
      if (!ok) return this.#fail(failureReason)
    }
    await rm(join(this.#folder, setupFile), { force: true })
    this.#lastUsedMs = spec.last_used_ms ?? Date.now()
    if ((await this.#host.move('initialized')) === undefined) return
    await this.#store('keep-alive time', () => this.arm())
    if (spec.entrypoint) void this.#runEntrypoint(box, spec.entrypoint)
  }

  async #storeNode({ node }: Box) {
    if (node)
      await this.#store('node', () => this.#options.store.setNode(this.id, { id: node.id, hostname: node.hostname }))
  }

  // Unspecified: secrets override environment variables of the same name.
  #readEnv(spec: DevboxRecord): Record<string, string> {
    const revealed = this.#options.secrets.reveal(spec.account, spec.secrets)
    for (const [name, secret] of Object.entries(spec.secrets))
      if (!Object.hasOwn(revealed, name)) this.#log('warn', `${name} is not set: secret ${secret} no longer exists`)
    return { ...spec.environment_variables, ...revealed }
  }

  async #ended(end: BoxEnd | undefined) {
    if (this.stopped.aborted || end === undefined) return
    this.#log('error', end.cause)
    this.#host.problem(end.cause)
    await this.#fail(end.reason ?? 'health_check_failed')
  }

  /** Continues what an earlier service left running. Undefined if there is nothing. */
  takeOver(): Promise<RunningDevbox | undefined> {
    this.#isLeft = true
    const taken = this.#takeOver().catch((error: unknown) => {
      if (!this.stopped.aborted) {
        logFailure(`Could not continue devbox ${this.id}`)(error)
        this.#box?.detach?.()
        this.#box = undefined
      } else if (this.#isDetached) this.#box?.detach?.()
      return undefined
    })
    this.#started = taken.then(() => undefined)
    return taken
  }

  async #takeOver(): Promise<RunningDevbox | undefined> {
    const { store, engineOf, executions, terminals } = this.#options
    const spec = store.mustFind(this.id)
    const boxSpec = await this.#boxSpecOf(spec)
    const found = await untilAvailable(
      async () => engineOf(spec).adopt?.(boxSpec, (sentence) => this.#log('warn', sentence)),
      this.stopped,
    )
    if (found && 'cause' in found) {
      await this.#ended(found)
      return undefined
    }
    if (!found?.survivors) return undefined
    this.#box = found
    this.#isTakingOver = true
    this.stopped.throwIfAborted()
    this.#env = this.#readEnv(spec)
    const running = this.#runningIn(found)
    await found.survivors.keepOnly([...executions.holds(this.id), ...terminals.holds(this.id), entrypointHold])
    this.#oomKills = found.outOfMemoryKills()
    await terminals.resume(this.id, running)
    this.stopped.throwIfAborted()
    void found.ended.then((end) => this.#ended(end)).catch(logFailure(`Could not end devbox ${this.id}`))
    await this.#storeNode(found)
    this.#lastUsedMs = spec.last_used_ms ?? Date.now()
    this.#isTakingOver = false
    this.#log('info', 'The service restarted; the devbox kept running')
    await this.#store('keep-alive time', () => this.arm())
    if (spec.entrypoint) void this.#runEntrypoint(found, spec.entrypoint, { isContinued: true })
    return running
  }

  /** False if the devbox ends with the service. */
  get outlivesService(): boolean {
    const devbox = this.#options.store.mustFind(this.id)
    if (devbox.status !== 'running' || !this.#options.engineOf(devbox).adopt) return false
    return !this.#box || this.#box.survivors !== undefined
  }

  /** Call after `finish`. */
  detach(): void {
    this.#isDetached = true
    this.#box?.detach?.()
  }

  // Unspecified: whatever its exit status, unless memory or disk ran out.
  async #runEntrypoint(box: Box, entrypoint: string, how: { isContinued?: boolean } = {}) {
    const { ok, failureReason } = await this.#run(box, 'entrypoint', entrypoint, { hold: entrypointHold, ...how })
    if (this.stopped.aborted) return
    if (!ok && failureReason !== 'execution_failed') await this.#fail(failureReason)
    else this.#host.shutDown('entrypoint_exit')
  }

  async #run(box: Box, source: LogSource, command: string, { env, hold, isContinued = false }: RunOptions = {}) {
    const kills = box.outOfMemoryKills()
    const start = { stdout: 0, stderr: 0 }
    const process = isContinued && hold !== undefined ? await box.survivors?.process(hold, start) : undefined
    const log = this.#options.logs.command(this.id, { source, cmd: command, isContinued: process !== undefined })
    const following = {
      attach: (stream: Stream, reader: Readable, held: Held | undefined) => {
        let offset = held?.from[stream] ?? 0
        reader.on('data', (chunk: Buffer) => {
          log.output(stream, chunk)
          offset += chunk.length
          held?.stored(stream, offset)
        })
      },
      keepsOutputOpen: true,
    }
    const running = { box, env: { ...this.#env, ...env } }
    const exitStatus = await (process
      ? followProcess(process, following)
      : runScript(running, { ...following, script: command, ...(hold !== undefined && { hold }) })
    ).catch((error: Error) => {
      log.output('stderr', Buffer.from(`devdeck: could not start the command: ${error.message}\n`))
      return notStarted
    })
    log.end(exitStatus)
    this.countKills()
    if (exitStatus === 0) return { ok: true, failureReason: undefined }
    return { ok: false, failureReason: await this.#failureReason(box, kills, exitStatus) }
  }

  async #failureReason(box: Box, killsBefore: number, exitStatus: number): Promise<FailureReason> {
    if (box.outOfMemoryKills() > killsBefore) return 'out_of_memory'
    if (exitStatus === fileTooLargeStatus || (await box.isDiskFull())) return 'out_of_disk'
    // A command also fails if its devbox dies, and may report that first.
    const hasExited = await Promise.race([box.ended.then(() => true), delay(settleMs, false)])
    return hasExited ? 'health_check_failed' : 'execution_failed'
  }

  async #fail(reason: FailureReason = 'execution_failed') {
    if (this.stopped.aborted) return
    let failureReason = reason
    if (reason === 'health_check_failed') {
      this.countKills()
      if (Date.now() - this.#oomKillMs < oomMemoryMs) failureReason = 'out_of_memory'
      else if (await this.#box?.isDiskFull()) failureReason = 'out_of_disk'
    }
    // Not awaited: stopping waits for the start, which may be waiting for this.
    if (!(await this.#host.move('fail', { failureReason }))) return
    if (keepsDisk(this.#options.store.mustFind(this.id)))
      this.#log('info', 'The devbox failed and keeps its disk. Resume it to continue, or shut it down')
    this.#host.end()
  }

  async #boxSpecOf(devbox: DevboxRecord, blueprint?: BlueprintOrigin): Promise<BoxSpec> {
    const { id, name, launch_parameters, snapshot_id: snapshotId, image } = devbox
    const { serviceId, dataDir, privateNetwork, snapshots } = this.#options
    const { cpuCores, memoryGb, diskGb } = resourcesOf(launch_parameters)
    const { origin, network } = (await readOrigin(this.#folder)) ?? {}
    const snapshot = snapshotId === null ? undefined : { snapshotId }
    const lastSnapshotId = snapshots.latestOf(id) ?? snapshotId ?? undefined
    return {
      devboxId: id,
      serviceId,
      hostname: hostnameFor(name, id),
      dataDir,
      folder: this.#folder,
      limits: { cpuCores, memoryBytes: memoryGb * 2 ** 30, diskBytes: diskGb * 2 ** 30 },
      network: network ?? networkOf(devbox, this.#options),
      group: network ? undefined : groupOf(devbox, this.#options),
      privateNetwork,
      user: userOf(launch_parameters),
      hasRun: hasRun(devbox),
      placement: [
        ...placementIn(devbox.blueprint_id ? this.#options.blueprints.metadataOf(devbox.blueprint_id) : {}),
        ...placementIn(devbox.metadata),
      ],
      ...(lastSnapshotId !== undefined && { lastSnapshotId }),
      origin:
        (blueprint && { ...blueprint, ...(snapshot && { disk: snapshot }) }) ??
        origin ??
        (snapshot ? { kind: 'snapshot', ...snapshot } : image === null ? { kind: 'empty' } : { kind: 'image', image }),
      signal: this.stopped,
    }
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

  /** Activity doesn't reset the timer, which checks the last activity when it fires. */
  #armIdle({ idle_time_seconds, on_idle }: NonNullable<ReturnType<typeof idlePolicy>>) {
    const wait = () => {
      const untilMs = this.lastUsedMs + idle_time_seconds * 1000
      this.#cancelTimer = at(untilMs, () => {
        if (this.lastUsedMs + idle_time_seconds * 1000 > Date.now()) wait()
        else if (on_idle === 'suspend') this.#host.suspend()
        else this.#host.shutDown('idle')
      })
    }
    wait()
  }

  #store(what: string, write: () => void) {
    const unlessStopped = () => {
      if (!this.stopped.aborted) write()
    }
    return untilStored(unlessStopped, `Could not store the ${what} of devbox ${this.id}`, this.stopped)
  }

  #log(level: 'info' | 'warn' | 'error', message: string) {
    this.#options.logs.append(this.id, { level, source: 'setup_commands', message })
  }
}

const groupOf = (
  { account, launch_parameters: { network_policy_id: id } }: DevboxRecord,
  { networkPolicies }: Pick<SessionOptions, 'networkPolicies'>,
): string | undefined => (id && networkPolicies.get(account, id)?.egress.allow_devbox_to_devbox ? id : undefined)

/** Repeats an action while its engine can't be reached. */
const untilAvailable = async <T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  for (;;) {
    try {
      return await action()
    } catch (error) {
      if (signal.aborted || !(error instanceof ServiceError && error.code === 'unavailable')) throw error
      await delay(retryMs, undefined, { signal, ref: false })
    }
  }
}

export const networkOf = (
  { account, ...devbox }: Pick<DevboxRecord, 'account' | 'launch_parameters' | 'engine'>,
  { networkPolicies, engineOf }: Pick<SessionOptions, 'networkPolicies' | 'engineOf'>,
  field = 'launch_parameters.network_policy_id',
): Network => {
  const id = devbox.launch_parameters.network_policy_id
  if (!id) return 'public'
  const policy = networkPolicies.get(account, id)
  if (!policy) throw new ServiceError('invalid_argument', `${field}: network policy ${id} not found`, { field })
  const engine = engineOf(devbox)
  const { allow_all, allow_devbox_to_devbox } = policy.egress
  const isSupported = allow_all || !allow_devbox_to_devbox || engine.connectsGroups
  const network = isSupported && networkUnder(policy.egress)
  const refuse = (problem: string) =>
    new ServiceError('not_implemented', `${field}: ${problem}`, { field, shouldRetry: false })
  if (!network) throw refuse(`policy ${id} allows addresses or devboxes; this service supports all, host names or none`)
  const problem = engine.networkProblem(network)
  if (problem !== undefined) throw refuse(`policy ${id} ${problem}`)
  return network
}
