import { EventEmitter } from 'node:events'
import { mkdir, readdir, statfs } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Devbox,
  type DevboxAction,
  type DevboxCreate,
  type DevboxUpdate,
  devboxRefusal,
  hasEnded,
  type LaunchParameters,
} from '#lib/contract/devboxes.ts'
import type { LogSource } from '#lib/contract/logs.ts'
import { type DevboxEvent, hostnameFor, idleRule, keepAliveUntil, nextStatus } from '#lib/service/domain/devboxes.ts'
import { networkUnder, resourcesOf, suspendDeadlineMs } from '#lib/service/domain/launch-parameters.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { isDiskFull, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { hold } from '#lib/service/kit/hold.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { callKey, Replays } from '#lib/service/kit/replays.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import { at } from '#lib/service/kit/timer.ts'
import type { Pipes } from '#lib/service/sandbox/pipes.ts'
import { endProcesses } from '#lib/service/sandbox/plain-process.ts'
import type { Box, RunningDevbox, Sandbox, Site } from '#lib/service/sandbox/sandbox.ts'
import type { DevboxSpec, DevboxStore } from '#lib/service/store/devboxes.ts'
import type { DevboxLogs } from '#lib/service/store/logs.ts'
import type { NetworkPolicyStore } from '#lib/service/store/network-policies.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import { makeDisk, makeRoot, removeDisk, removeFolder, rootOf, stageMounts } from './mounts.ts'
import { type NewDevboxPlan, planDevbox } from './new-devbox.ts'
import { runSetupCommand } from './setup-command.ts'
import type { Snapshots } from './snapshots.ts'
import { newTunnel } from './tunnels.ts'

// A devbox whose launch commands take longer is not evicted.
const maxStartMs = 24 * 60 * 60 * 1000
// More sandboxes at once start no sooner, and the service answers slower: after a restart hundreds may have to.
const startsAtOnce = 8
const watchMs = 2000
const retryMs = 1000
const settleMs = 100
/** Unspecified: how long a repeated call answers the devbox that the first one made. */
const replayMs = 10 * 60 * 1000
/** A disk with less room left than this counts as full. */
const fullBytes = 8 * 2 ** 20
// What a process ends with that wrote more to a file than its devbox may have of the disk.
const fileTooLargeStatus = 128 + constants.signals.SIGXFSZ
// A kill for want of memory this long before the end of a devbox was its cause.
const oomMemoryMs = 5000

interface Options {
  store: DevboxStore
  /** Devboxes that have not ended. */
  maxPerAccount: number
  secrets: SecretStore
  networkPolicies: NetworkPolicyStore
  snapshots: Snapshots
  logs: DevboxLogs
  pipes: Pipes
  executions: Executions
  sandbox: Sandbox
  serviceId: string
  folderOf: (devboxId: string) => string
  log: (entry: object) => void
}

type FailureReason = 'out_of_memory' | 'out_of_disk' | 'execution_failed' | 'health_check_failed'

interface Reasons {
  failureReason?: FailureReason
  shutdownReason?: 'api_shutdown' | 'keep_alive_timeout' | 'entrypoint_exit' | 'idle'
}

/** Who asks for a devbox, and by which call. */
interface Asking {
  /** Repeating a call under the same id, with the same body, makes one devbox. */
  requestId?: string
  initiatorType?: NonNullable<Devbox['initiator_type']>
  initiatorId?: string
  /** Folders of its own at `/`, which is then writable; not to be had without isolation. */
  root?: readonly string[]
  /** `none` whatever the body says; only together with `root`. */
  network?: 'none'
}

/** From one start of a devbox to its end: what runs now. */
interface Life {
  readonly account: string
  readonly parameters: LaunchParameters
  env: Record<string, string>
  box?: Box
  /** Aborted once the processes are to end; whoever is still starting something stops there. */
  readonly over: AbortController
  started: Promise<void>
  /** Uses that are going on: commands, terminals, file operations. */
  busy: number
  lastUsedMs: number
  /** What the store knows of it. */
  writtenUsedMs: number
  /** Takes back the timer of the keep-alive time or of the idle rule. */
  cancelTimer: () => void
  /** How many processes the kernel had killed for want of memory when it was last looked at. */
  oomKills: number
  oomKillMs: number
}

/** Every devbox of the service: moves it through its states and owns its processes. */
export class Devboxes {
  /** Emits `status` with (id, status) after every move. */
  readonly changes = new EventEmitter().setMaxListeners(0)
  readonly #options: Options
  readonly #lives = new Map<string, Life>()
  /** Ends under way: processes are being killed, then the disk goes if the devbox has ended. */
  readonly #endings = new Map<string, Promise<void>>()
  readonly #starts = new Slots(startsAtOnce)
  readonly #replays = new Replays(replayMs)
  readonly #closing = new AbortController()
  #watch: NodeJS.Timeout | undefined
  #sweep: Promise<void> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Takes up where the last life of the service ended: kills what it left running, completes its executions, settles
   * states in between, and starts what was running. The devboxes are starting, not running, when this resolves.
   */
  async recover(): Promise<void> {
    const { store, executions, serviceId, folderOf, log } = this.#options
    await endProcesses({ DEVDECK_SERVICE_ID: serviceId })
    await executions.recover()
    // A crash may have come between the end of a devbox and that of its disk, or before a new one was stored.
    const folders = await readdir(folderOf('')).catch(() => [])
    const ids = store.unended()
    for (const id of ids) this.#takeUp(id)
    const unended = new Set(ids)
    this.#sweep = this.#removeLeftovers(folders.filter((id) => !unended.has(id))).catch((error: unknown) =>
      log({ message: 'Disks of ended devboxes could not be removed', error: String(error) }),
    )
    this.#watch = setInterval(() => this.#lookAtAll(), watchMs).unref()
  }

  /** Ends all processes and leaves every state as it is, for the next life to take up. */
  async close(): Promise<void> {
    clearInterval(this.#watch)
    this.#writeUse()
    this.#closing.abort()
    for (const id of this.#lives.keys()) this.#end(id)
    await Promise.allSettled([...this.#endings.values(), this.#sweep])
  }

  async create(account: string, body: DevboxCreate, asking: Asking = {}): Promise<Devbox> {
    const { requestId } = asking
    if (requestId === undefined) return this.get(account, await this.#create(account, body, asking))
    const key = callKey(account, requestId, body)
    return this.get(account, await this.#replays.once(key, () => this.#create(account, body, asking)))
  }

  /** Resolves to the id. Throws 400 or 501 for what cannot be, 404 or 409 for its snapshot, 429 for one too many. */
  async #create(account: string, body: DevboxCreate, asking: Asking): Promise<string> {
    const { store, folderOf, sandbox } = this.#options
    const { root, network } = asking
    const { mounts, ...plan } = planDevbox(body)
    this.#requireAvailable(account, plan)
    if (root && sandbox.isolation === 'none')
      throw new ServiceError('not_implemented', 'Devboxes without isolation cannot have folders of their own at /', {
        shouldRetry: false,
      })
    const id = newId('dbx')
    try {
      await mkdir(folderOf(id), { recursive: true, mode: 0o700 })
      await stageMounts(folderOf(id), mounts)
      if (root) await makeRoot(folderOf(id), root, network)
      // Anything may have happened while the files were written.
      this.#requireAvailable(account, plan)
      const now = Date.now()
      store.insert({
        id,
        account,
        name: body.name || null,
        // Unspecified: what the flex tier waits for. Here it is a place among those that start.
        status: plan.launch_parameters.provisioning_tier === 'flex' ? 'queued' : 'provisioning',
        create_time_ms: now,
        metadata: body.metadata ?? {},
        tunnel: body.tunnel ? newTunnel(body.tunnel, now) : null,
        initiator_type: asking.initiatorType ?? 'api',
        initiator_id: asking.initiatorId ?? null,
        ...plan,
      })
    } catch (error) {
      await removeFolder(folderOf(id))
      throw error
    }
    this.#start(id)
    return id
  }

  #requireAvailable(account: string, plan: Omit<NewDevboxPlan, 'mounts'>) {
    const { store, maxPerAccount, secrets, snapshots } = this.#options
    if (plan.snapshot_id !== null) snapshots.requireComplete(account, plan.snapshot_id)
    const missing = secrets.missing(account, [...new Set(Object.values(plan.secrets))])
    if (missing.length > 0)
      throw new ServiceError('invalid_argument', `secrets: there is no secret ${missing.join(', ')}`, {
        field: 'secrets',
      })
    this.#network(account, plan.launch_parameters)
    if (store.countUnended(account) >= maxPerAccount)
      throw new ServiceError('rate_limited', `The account has ${maxPerAccount} devboxes that have not ended already`, {
        retryAfterSeconds: 5,
      })
  }

  /** Throws 404. */
  get(account: string, id: string): Devbox {
    return this.#options.store.get(account, id) ?? notFound('devbox', id)
  }

  /** Throws 404. */
  update(account: string, id: string, change: DevboxUpdate): Devbox {
    this.get(account, id)
    this.#options.store.update(id, change)
    return this.get(account, id)
  }

  /** The devbox once it is in one of `statuses`; undefined when the time was over or the client left. Throws 404. */
  reaches(
    account: string,
    id: string,
    statuses: readonly string[],
    holdMs: number,
    signal?: AbortSignal,
  ): Promise<Devbox | undefined> {
    const check = () => {
      const devbox = this.get(account, id)
      return statuses.includes(devbox.status) ? devbox : undefined
    }
    return hold({ changes: this.changes, name: 'status', check, holdMs, signal })
  }

  /** What commands and terminals need of a running devbox. Throws 404, or 400 with the reason why not `action`. */
  running(account: string, id: string, action: DevboxAction): RunningDevbox {
    this.#require(account, id, action)
    const life = this.#lives.get(id)
    if (!life?.box) throw new ServiceError('unavailable', `Devbox ${id} is not ready`, { retryAfterSeconds: 1 })
    return { box: life.box, env: life.env, runFolder: this.#folders(id).run, busy: () => this.#busy(id, life) }
  }

  /** The devbox was used at this moment; nothing when it does not run. */
  touch(id: string): void {
    const life = this.#lives.get(id)
    if (life) life.lastUsedMs = Date.now()
  }

  /** The running devboxes of all accounts, the one used longest ago first. */
  leastRecentlyUsed(): { id: string; account: string }[] {
    const now = Date.now()
    return [...this.#lives]
      .filter(([id]) => this.#spec(id).status === 'running')
      .map(([id, { account, busy, lastUsedMs }]) => ({ id, account, usedMs: busy > 0 ? now : lastUsedMs }))
      .sort((a, b) => a.usedMs - b.usedMs)
      .map(({ id, account }) => ({ id, account }))
  }

  suspend(account: string, id: string): Devbox {
    this.#require(account, id, 'suspend')
    this.#move(id, 'suspend')
    void this.#bringDown(id)
    return this.get(account, id)
  }

  resume(account: string, id: string): Devbox {
    this.#require(account, id, 'resume')
    // Before anything changes: the policy may be another by now.
    this.#network(account, this.#spec(id).launch_parameters)
    this.#options.store.forgetUse(id)
    this.#move(id, 'resume')
    this.#start(id)
    return this.get(account, id)
  }

  /**
   * Resolves when no process is left and the disk is gone. A devbox that has ended stays as it is. Throws 409 while a
   * snapshot of the devbox is being taken, which `force` gives up.
   */
  async shutdown(account: string, id: string, { force }: { force: boolean }): Promise<Devbox> {
    const { snapshots } = this.#options
    const { status } = this.get(account, id)
    if (!force && !hasEnded(status) && snapshots.isBeingTaken(id))
      throw new ServiceError(
        'conflict',
        `A snapshot of devbox ${id} is being taken; shut down with force to give it up`,
        { shouldRetry: false },
      )
    this.#move(id, 'shutdown', { shutdownReason: 'api_shutdown' })
    await Promise.all([force && snapshots.settled(id, { abort: true }), this.#end(id)])
    return this.get(account, id)
  }

  keepAlive(account: string, id: string): void {
    this.#require(account, id, 'keep_alive')
    this.touch(id)
    this.#options.store.keepAliveUntil(id, keepAliveUntil(this.#spec(id).launch_parameters, Date.now()))
    this.#arm(id)
  }

  /** Suspends the devbox, once it runs if it is starting; nothing when it is suspended or has ended. */
  async evict(id: string): Promise<void> {
    const check = () => {
      const { status } = this.#spec(id)
      return status === 'running' || nextStatus(status, 'fail') === undefined ? status : undefined
    }
    const { changes, signal } = { changes: this.changes, signal: this.#closing.signal }
    const status = await hold({ changes, name: 'status', check, holdMs: maxStartMs, signal })
    if (status === 'running') await this.#suspendUnasked(id)
  }

  #require(account: string, id: string, action: DevboxAction) {
    const refusal = devboxRefusal(action, this.get(account, id).status)
    // Unspecified: 400 is what the public clients know for a state that forbids the call.
    if (refusal) throw new ServiceError('invalid_argument', refusal, { shouldRetry: false })
  }

  #spec(id: string): DevboxSpec {
    return this.#options.store.spec(id)
  }

  #folders(id: string) {
    const folder = this.#options.folderOf(id)
    return { folder, home: join(folder, 'home'), tmp: join(folder, 'tmp'), run: join(folder, 'run') }
  }

  #site({ id, name, account, launch_parameters }: DevboxSpec): Site {
    const { folder, home, tmp, run } = this.#folders(id)
    const { cpuCores, memoryGb, diskGb } = resourcesOf(launch_parameters)
    const root = rootOf(folder)
    return {
      devboxId: id,
      serviceId: this.#options.serviceId,
      hostname: hostnameFor(name, id),
      home,
      tmp,
      run,
      limits: { cpuCores, memoryBytes: memoryGb * 2 ** 30, diskBytes: diskGb * 2 ** 30 },
      network: root?.network ?? this.#network(account, launch_parameters),
      ...(root && { root: root.folder }),
    }
  }

  /** The network a devbox gets. Throws 400 for a policy that is not there, 501 for one that cannot be had. */
  #network(account: string, { network_policy_id: id }: LaunchParameters): Site['network'] {
    if (!id) return 'host'
    const { networkPolicies, sandbox } = this.#options
    const field = 'launch_parameters.network_policy_id'
    const policy = networkPolicies.get(account, id)
    if (!policy) throw new ServiceError('invalid_argument', `${field}: there is no network policy ${id}`, { field })
    const network = networkUnder(policy.egress)
    const refuse = (problem: string) =>
      new ServiceError('not_implemented', `${field}: ${problem}`, { field, shouldRetry: false })
    if (!network) throw refuse(`policy ${id} allows some of the network; this service can allow all of it or none`)
    if (network === 'none' && sandbox.isolation === 'none')
      throw refuse(`policy ${id} allows no network; devboxes without isolation have the network of the machine`)
    return network
  }

  /** The new status, or undefined when the event means nothing in the present one. */
  #move(id: string, event: DevboxEvent, reasons: Reasons = {}): string | undefined {
    if (this.#closing.signal.aborted) return undefined
    const before = this.#spec(id).status
    const status = nextStatus(before, event)
    if (!status || status === before) return status
    this.#options.store.move(id, { status, timeMs: Date.now(), ...reasons })
    try {
      this.changes.emit('status', id, status)
    } catch (error) {
      // The move is made, whatever those who hear of it could not do.
      this.#options.log({ message: `Not everything followed devbox ${id} to ${status}`, error: String(error) })
    }
    return status
  }

  /** A move that nobody waits for: what a full disk refuses is tried again until it is stored or `over`. */
  async #moveInTime(id: string, event: DevboxEvent, reasons: Reasons = {}, over = this.#closing.signal) {
    return await this.#store(`Devbox ${id} could not take note of "${event}"`, over, () =>
      this.#move(id, event, reasons),
    )
  }

  async #store<T>(problem: string, over: AbortSignal, write: () => T): Promise<T | undefined> {
    for (let told = false; !over.aborted && !this.#closing.signal.aborted; told = true) {
      try {
        return write()
      } catch (error) {
        if (!told) this.#options.log({ message: `${problem}; trying again`, error: String(error) })
        await delay(retryMs, undefined, { ref: false })
      }
    }
    return undefined
  }

  /** What becomes of one devbox after a restart of the service. */
  #takeUp(id: string) {
    const spec = this.#spec(id)
    if (spec.status === 'running' && this.#isOverdue(spec)) {
      const idle = idleRule(spec.launch_parameters)
      void (idle ? this.#idle(id, idle.on_idle) : this.#shutDownBecause(id, 'keep_alive_timeout'))
    } else if (spec.status === 'running' && this.#isBarred(spec)) void this.#suspendUnasked(id)
    else if (nextStatus(spec.status, 'recover')) {
      const next = this.#move(id, 'recover')
      if (next !== 'suspended') this.#start(id)
    }
  }

  /** Its time was over while the service was down. */
  #isOverdue({ keep_alive_until_ms, last_used_ms, launch_parameters }: DevboxSpec): boolean {
    const idle = idleRule(launch_parameters)
    const untilMs = idle ? last_used_ms && last_used_ms + idle.idle_time_seconds * 1000 : keep_alive_until_ms
    return untilMs !== null && untilMs <= Date.now()
  }

  /**
   * The network it may have is none this service can give: its policy was changed, or there is another sandbox than
   * before. Unspecified: it is suspended and keeps its disk; resuming it tells the reason.
   */
  #isBarred({ id, account, launch_parameters }: DevboxSpec): boolean {
    try {
      this.#network(account, launch_parameters)
      return false
    } catch (error) {
      this.#tell(id, 'error', `The devbox could not be started again: ${(error as Error).message}`)
      return true
    }
  }

  async #removeLeftovers(ids: readonly string[]) {
    const { store, folderOf } = this.#options
    for (const id of ids) {
      if (this.#closing.signal.aborted) return
      if (store.has(id)) await removeDisk(folderOf(id))
      else await removeFolder(folderOf(id))
    }
  }

  #start(id: string) {
    const { account, launch_parameters } = this.#spec(id)
    const life: Life = {
      account,
      parameters: launch_parameters,
      env: {},
      over: new AbortController(),
      started: Promise.resolve(),
      busy: 0,
      lastUsedMs: Date.now(),
      writtenUsedMs: 0,
      cancelTimer: () => undefined,
      oomKills: 0,
      oomKillMs: 0,
    }
    this.#lives.set(id, life)
    life.started = this.#bringUp(id, life).catch(async (error: unknown) => {
      if (life.over.signal.aborted) return
      this.#options.log({ message: `Devbox ${id} could not be started`, error: String(error) })
      this.#tell(id, 'error', `The devbox could not be started: ${error instanceof Error ? error.message : error}`)
      await this.#fail(id, life, isDiskFull(error) ? 'out_of_disk' : 'health_check_failed')
    })
  }

  async #bringUp(id: string, life: Life): Promise<void> {
    const { store, snapshots, secrets, sandbox } = this.#options
    const over = life.over.signal
    const spec = this.#spec(id)
    const { folder, run } = this.#folders(id)
    const { snapshot_id } = spec
    const restore = snapshot_id ? (home: string) => snapshots.restore(snapshot_id, home, { signal: over }) : undefined
    await makeDisk(folder, restore)
    const site = this.#site(spec)
    const box = await this.#starts.run(over, async () => {
      await this.#moveInTime(id, 'provision', {}, over)
      await removeFolder(run)
      await mkdir(run, { mode: 0o700 })
      over.throwIfAborted()
      life.box = await sandbox.start(site)
      return life.box
    })
    void box.ended.then(() => this.#fail(id, life, 'health_check_failed'))
    if (over.aborted) return
    const revealed = secrets.reveal(spec.account, spec.secrets)
    for (const [name, secret] of Object.entries(spec.secrets))
      if (!Object.hasOwn(revealed, name)) this.#tell(id, 'warn', `There is no secret ${secret} any more, so no ${name}`)
    // Unspecified: which of the two a name has that is in both.
    life.env = { ...spec.environment_variables, ...revealed }
    await this.#store(`The isolation of devbox ${id} could not be stored`, over, () =>
      store.isolation(id, { sandbox: sandbox.isolation, not_enforced: [...box.notEnforced] }),
    )
    this.#tell(id, 'info', isolationWords[sandbox.isolation])
    for (const sentence of box.notEnforced) this.#tell(id, 'warn', sentence)
    await this.#moveInTime(id, this.#spec(id).status === 'resuming' ? 'resumed' : 'provisioned', {}, over)
    for (const command of spec.launch_parameters.launch_commands ?? []) {
      const { ok, failureReason } = await this.#run(id, life, box, 'setup_commands', command)
      if (over.aborted) return
      if (!ok) return this.#fail(id, life, failureReason)
    }
    life.lastUsedMs = spec.last_used_ms ?? Date.now()
    if ((await this.#moveInTime(id, 'initialized', {}, over)) === undefined) return
    await this.#store(`The keep-alive time of devbox ${id} could not be stored`, over, () => this.#arm(id))
    if (spec.entrypoint) void this.#runEntrypoint(id, life, box, spec.entrypoint)
  }

  /**
   * Unspecified: what the exit status of the entrypoint means. Whatever it is, the devbox has done its work and is shut
   * down; it fails only when memory or disk ran out.
   */
  async #runEntrypoint(id: string, life: Life, box: Box, entrypoint: string) {
    const { ok, failureReason } = await this.#run(id, life, box, 'entrypoint', entrypoint)
    if (life.over.signal.aborted) return
    if (!ok && failureReason !== 'execution_failed') await this.#fail(id, life, failureReason)
    else await this.#shutDownBecause(id, 'entrypoint_exit')
  }

  /** Runs a launch or suspend command or the entrypoint to its end, into the log; and why it failed if it did. */
  async #run(id: string, life: Life, box: Box, source: LogSource, command: string) {
    const kills = box.outOfMemoryKills()
    const { run: runFolder, home } = this.#folders(id)
    const { logs, pipes } = this.#options
    const log = logs.command(id, { source, cmd: command })
    const exitStatus = await runSetupCommand({ box, env: life.env, runFolder, pipes, command, log })
    this.#noteKills(id, life)
    if (exitStatus === 0) return { ok: true, failureReason: undefined }
    return { ok: false, failureReason: await this.#failureReason(box, kills, home, exitStatus) }
  }

  async #failureReason(box: Box, killsBefore: number, home: string, exitStatus: number): Promise<FailureReason> {
    if (box.outOfMemoryKills() > killsBefore) return 'out_of_memory'
    if (exitStatus === fileTooLargeStatus || (await isFull(home))) return 'out_of_disk'
    // A command whose devbox is gone under it fails as well, and may be heard of first.
    const isGone = await Promise.race([box.ended.then(() => true), delay(settleMs, false)])
    return isGone ? 'health_check_failed' : 'execution_failed'
  }

  async #fail(id: string, life: Life, reason: FailureReason = 'execution_failed') {
    const over = life.over.signal
    if (over.aborted) return
    let failureReason = reason
    if (reason === 'health_check_failed') {
      this.#noteKills(id, life)
      if (Date.now() - life.oomKillMs < oomMemoryMs) failureReason = 'out_of_memory'
      else if (await isFull(this.#options.folderOf(id))) failureReason = 'out_of_disk'
    }
    // Not awaited: the end waits for the start, which may be what failed and waits for this.
    if (await this.#moveInTime(id, 'fail', { failureReason }, over)) void this.#end(id)
  }

  async #suspendUnasked(id: string) {
    if (await this.#moveInTime(id, 'suspend')) await this.#bringDown(id)
  }

  /** From suspending to suspended. */
  async #bringDown(id: string) {
    const life = this.#lives.get(id)
    life?.cancelTimer()
    if (life?.box)
      await this.#runSuspendCommands(id, life, life.box).catch((error: unknown) =>
        this.#options.log({ message: `The suspend commands of devbox ${id} were broken off`, error: String(error) }),
      )
    await this.#end(id)
    await this.#moveInTime(id, 'suspended')
  }

  /** Unspecified: what a suspend command that fails means. The others run all the same, and the devbox is suspended. */
  async #runSuspendCommands(id: string, life: Life, box: Box) {
    const commands = life.parameters.lifecycle?.lifecycle_hooks?.suspend_commands ?? []
    if (commands.length === 0) return
    const deadline = AbortSignal.timeout(suspendDeadlineMs(life.parameters))
    const stop = AbortSignal.any([deadline, life.over.signal])
    const runAll = async () => {
      for (const command of commands) if (!stop.aborted) await this.#run(id, life, box, 'setup_commands', command)
    }
    const aborted = new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
    const all = runAll()
    await Promise.race([all, stop.aborted || aborted])
    if (deadline.aborted) this.#tell(id, 'warn', 'The suspend commands took too long and were ended')
  }

  /** Ends the devbox's processes, and removes its disk if it has ended for good. */
  #end(id: string): Promise<void> {
    const { snapshots, executions, folderOf, log } = this.#options
    const known = this.#endings.get(id)
    const life = this.#lives.get(id)
    this.#lives.delete(id)
    life?.over.abort()
    life?.cancelTimer()
    const ending = (async () => {
      await known
      if (life) await executions.end(id, () => this.#stopProcesses(id, life))
      if (this.#closing.signal.aborted || !hasEnded(this.#spec(id).status)) return
      await snapshots.settled(id, { abort: false })
      await removeDisk(folderOf(id))
    })().catch((error: unknown) => log({ message: `Devbox ${id} could not be ended cleanly`, error: String(error) }))
    this.#endings.set(id, ending)
    return ending.finally(() => {
      if (this.#endings.get(id) === ending) this.#endings.delete(id)
    })
  }

  /** Twice while it is still starting: what is killed first may be what the start waits for. */
  async #stopProcesses(id: string, life: Life) {
    const { serviceId } = this.#options
    await life.box?.stop()
    await life.started
    await life.box?.stop()
    await endProcesses({ DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: id })
  }

  #busy(id: string, life: Life): () => void {
    life.busy++
    life.lastUsedMs = Date.now()
    return () => {
      life.busy--
      life.lastUsedMs = Date.now()
      this.#noteKills(id, life)
    }
  }

  #lookAtAll() {
    for (const [id, life] of this.#lives) this.#noteKills(id, life)
    this.#writeUse()
  }

  /** Together and not at once: every write waits for the disk. After a crash the times are a little early. */
  #writeUse() {
    const { store, log } = this.#options
    const now = Date.now()
    const used = [...this.#lives].filter(([id, life]) => {
      if (life.busy > 0) life.lastUsedMs = now
      return life.lastUsedMs > life.writtenUsedMs && this.#spec(id).status === 'running'
    })
    if (used.length === 0) return
    try {
      store.lastUsed(new Map(used.map(([id, { lastUsedMs }]) => [id, lastUsedMs])))
      for (const [, life] of used) life.writtenUsedMs = life.lastUsedMs
    } catch (error) {
      log({ message: 'The use of devboxes could not be stored', error: String(error) })
    }
  }

  /** Logs that the kernel has killed processes of the devbox for want of memory since the last look. */
  #noteKills(id: string, life: Life) {
    const kills = life.box?.outOfMemoryKills() ?? 0
    if (kills <= life.oomKills) return
    const more = kills - life.oomKills
    life.oomKills = kills
    life.oomKillMs = Date.now()
    const { memoryGb } = resourcesOf(life.parameters)
    const message = `Out of memory: the kernel ended ${more} process${more === 1 ? '' : 'es'} at the limit of ${memoryGb} GiB`
    this.#options.logs.append(id, { level: 'error', source: 'kmsg', message })
  }

  #tell(id: string, level: 'info' | 'warn' | 'error', message: string) {
    this.#options.logs.append(id, { level, source: 'setup_commands', message })
  }

  /** Sets the one timer that ends or suspends the devbox unasked. */
  #arm(id: string) {
    const life = this.#lives.get(id)
    const { status, launch_parameters, keep_alive_until_ms } = this.#spec(id)
    if (!life || status !== 'running') return
    life.cancelTimer()
    const idle = idleRule(launch_parameters)
    if (idle) return this.#armIdle(id, life, idle)
    const until = keep_alive_until_ms ?? keepAliveUntil(launch_parameters, Date.now())
    if (until === null) return
    if (keep_alive_until_ms === null) this.#options.store.keepAliveUntil(id, until)
    life.cancelTimer = at(until, () => void this.#shutDownBecause(id, 'keep_alive_timeout'))
  }

  /** Uses of the devbox do not touch the timer: when it is over it looks whether there was one. */
  #armIdle(id: string, life: Life, { idle_time_seconds, on_idle }: NonNullable<ReturnType<typeof idleRule>>) {
    const idleMs = idle_time_seconds * 1000
    const wait = (fromMs: number) => {
      life.cancelTimer = at(fromMs + idleMs, () => {
        const now = Date.now()
        if (life.busy > 0) wait(now)
        else if (life.lastUsedMs + idleMs > now) wait(life.lastUsedMs)
        else void this.#idle(id, on_idle)
      })
    }
    wait(life.lastUsedMs)
  }

  async #idle(id: string, onIdle: 'suspend' | 'shutdown') {
    if (onIdle === 'suspend') await this.#suspendUnasked(id)
    else await this.#shutDownBecause(id, 'idle')
  }

  async #shutDownBecause(id: string, shutdownReason: Reasons['shutdownReason']) {
    if (await this.#moveInTime(id, 'shutdown', { shutdownReason })) await this.#end(id)
  }
}

const isolationWords = {
  bubblewrap: 'Isolated by bubblewrap: own users, processes, files and host name; the system is read-only',
  none: 'Not isolated: its processes are those of the user the service runs as',
}

const isFull = async (folder: string): Promise<boolean> => {
  try {
    const { bavail, bsize, files, ffree } = await statfs(folder)
    return bavail * bsize < fullBytes || (files > 0 && ffree === 0)
  } catch {
    // Gone with its devbox.
    return false
  }
}
