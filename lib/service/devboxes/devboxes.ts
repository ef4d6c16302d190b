import { EventEmitter } from 'node:events'
import { mkdir } from 'node:fs/promises'
import {
  type Devbox,
  type DevboxAction,
  type DevboxCreate,
  type DevboxUpdate,
  devboxRefusal,
  keepsDisk,
  resumeRefusal,
} from '#lib/contract/devboxes.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import { type DevboxEvent, idlePolicy, keepAliveUntil, nextStatus } from '#lib/service/domain/devboxes.ts'
import type { RunningDevbox, System } from '#lib/service/engine/engine.ts'
import { killProcesses } from '#lib/service/engine/process/plain-process.ts'
import { hasDescriptorsFor } from '#lib/service/kit/descriptors.ts'
import { invalid, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { hold } from '#lib/service/kit/hold.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { callKey, Replays } from '#lib/service/kit/replays.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import { untilStored } from '#lib/service/kit/until-stored.ts'
import type { DevboxRecord } from '#lib/service/store/devboxes.ts'
import { type LostAndFound, namesIn } from '#lib/service/store/lost-and-found.ts'
import type { WatchedDisk } from './disk-watch.ts'
import { Life, type LifeOptions, type Reasons } from './life.ts'
import { isUnfinished, makeRoot, makeSystem, removeDisk, removeFolder, stageMounts } from './mounts.ts'
import { type NewDevboxPlan, planDevbox } from './new-devbox.ts'
import { newTunnel } from './new-tunnel.ts'
import { hasRecordFile, writeDevboxFile } from './record-file.ts'
import { networkOf } from './site.ts'

// A devbox whose launch commands take longer is not evicted.
const maxStartMs = 24 * 60 * 60 * 1000
// More sandboxes at once start no sooner, and the service answers slower: after a restart hundreds may have to.
const startsAtOnce = 8
const watchMs = 2000

interface Options extends LifeOptions {
  /** Devboxes that have not ended. */
  maxPerAccount: number
  lostAndFound: LostAndFound
  executions: {
    /** Completes the executions that a restart of the service interrupted. */
    recover(): Promise<void>
    /** Ends every execution of a devbox. */
    end(devboxId: string, stopProcesses: () => Promise<void>): Promise<void>
  }
}

/** By whom a devbox is asked for, and what only the service itself may ask for. */
interface Origin {
  /** Repeating a call under the same id, with the same body, makes one devbox. */
  requestId?: string
  initiatorType?: NonNullable<Devbox['initiator_type']>
  initiatorId?: string
  /** Folders of its own at `/`, which is then writable; not to be had without isolation. */
  root?: readonly string[]
  /** A writable system of its own, in which it is root; only together with `root`. */
  system?: Omit<System, 'own'>
  /** `none` whatever the body says; only together with `root`. */
  network?: 'none'
}

/** Every devbox of the service: admits new ones, finds them, and moves each through its states. */
export class Devboxes {
  /** Emits `status` with (id, status) after every move. */
  readonly changes = new EventEmitter().setMaxListeners(0)
  readonly #options: Options
  readonly #lives = new Map<string, Life>()
  /** Ends under way: processes are being killed, then the disk goes if the devbox has ended. */
  readonly #endings = new Map<string, Promise<void>>()
  readonly #starts = new Slots(startsAtOnce)
  readonly #replays = new Replays()
  readonly #closing = new AbortController()
  #watch: NodeJS.Timeout | undefined
  #sweep: Promise<void> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * After a restart: kills what the last process of the service left running, completes its executions, settles states
   * in between, and starts what was running. The devboxes are starting, not running, when this resolves.
   */
  async recover(): Promise<void> {
    const { store, executions, serviceId, folderOf, lostAndFound } = this.#options
    await killProcesses({ DEVDECK_SERVICE_ID: serviceId })
    await executions.recover()
    const isKnown = (id: string) => store.find(id) !== undefined || isUnfinished(folderOf(id))
    for (const id of namesIn(folderOf(''))) if (!isKnown(id)) lostAndFound.take('devboxes', id)
    for (const id of store.unended())
      this.#takeUp(id).catch(logFailure(`Devbox ${id} could not be taken up again after a restart`))
    this.#sweep = this.#tidy(namesIn(folderOf(''))).catch(
      logFailure('Disks of devboxes that were shut down could not be removed'),
    )
    this.#watch = setInterval(() => {
      for (const life of this.#lives.values()) life.countKills()
      this.#storeUse()
    }, watchMs).unref()
  }

  /** Ends all processes and leaves every status as it is, for `recover` after the next start. */
  async close(): Promise<void> {
    clearInterval(this.#watch)
    this.#storeUse()
    this.#closing.abort()
    for (const id of this.#lives.keys()) this.#end(id)
    await Promise.allSettled([...this.#endings.values(), this.#sweep])
  }

  async create(account: string, body: DevboxCreate, origin: Origin = {}): Promise<Devbox> {
    const make = () => this.#create(account, body, origin)
    const { requestId } = origin
    const id = requestId === undefined ? make() : this.#replays.once(callKey(account, requestId, body), make)
    return this.get(account, await id)
  }

  /** Resolves to the id. Throws 400 or 501 for what cannot be, 404 or 409 for its snapshot, 429 for one too many. */
  async #create(account: string, body: DevboxCreate, origin: Origin): Promise<string> {
    const { store, folderOf, engine } = this.#options
    const { root, system, network } = origin
    const { mounts, ...plan } = planDevbox(body)
    this.#requireAvailable(account, plan)
    if (root && engine.isolation === 'none')
      throw new ServiceError('not_implemented', 'Devboxes without isolation cannot have folders of their own at /', {
        shouldRetry: false,
      })
    const id = newId('dbx')
    try {
      await mkdir(folderOf(id), { recursive: true, mode: 0o700 })
      await stageMounts(folderOf(id), mounts)
      if (root) await makeRoot(folderOf(id), root, network)
      if (system) await makeSystem(folderOf(id), system)
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
        initiator_type: origin.initiatorType ?? 'api',
        initiator_id: origin.initiatorId ?? null,
        ...plan,
      })
    } catch (error) {
      await removeFolder(folderOf(id))
      throw error
    }
    this.#start(id)
    await this.#writeRecord(id)
    return id
  }

  #requireAvailable(account: string, plan: Omit<NewDevboxPlan, 'mounts'>) {
    const { store, maxPerAccount, secrets, snapshots } = this.#options
    if (plan.snapshot_id !== null) snapshots.requireComplete(account, plan.snapshot_id)
    const missing = secrets.missing(account, [...new Set(Object.values(plan.secrets))])
    if (missing.length > 0) throw invalid({ field: 'secrets', message: `there is no secret ${missing.join(', ')}` })
    networkOf(account, plan.launch_parameters, this.#options)
    this.#requireDescriptors()
    if (store.countWithDisk(account) >= maxPerAccount)
      throw new ServiceError(
        'rate_limited',
        `The account has ${maxPerAccount} devboxes already, counting failed ones that keep their disk; shut some down`,
        { retryAfterSeconds: 5 },
      )
  }

  /** Throws 503. Those that are starting have yet to open theirs. */
  #requireDescriptors() {
    const starting = [...this.#lives.values()].filter(({ running }) => !running).length
    if (hasDescriptorsFor(starting + 1)) return
    throw new ServiceError(
      'unavailable',
      'The service is short of file descriptors: raise `ulimit -n`, or end devboxes',
      {
        retryAfterSeconds: 5,
      },
    )
  }

  /** Throws 404. */
  get(account: string, id: string): Devbox {
    return this.#options.store.get(account, id) ?? notFound('devbox', id)
  }

  /** Throws 404. */
  async update(account: string, id: string, change: DevboxUpdate): Promise<Devbox> {
    this.get(account, id)
    this.#options.store.update(id, change)
    await this.#writeRecord(id)
    return this.get(account, id)
  }

  #writeRecord(id: string): Promise<void> {
    return writeDevboxFile(this.#options.folderOf(id), this.#spec(id)).catch(
      logFailure(`The record beside the disk of devbox ${id} could not be written`),
    )
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
    const running = this.#lives.get(id)?.running
    if (!running) throw new ServiceError('unavailable', `Devbox ${id} is not ready`, { retryAfterSeconds: 1 })
    return running
  }

  /** The running devboxes of all accounts, the one used longest ago first. */
  leastRecentlyUsed(): { id: string; account: string }[] {
    return [...this.#lives.values()]
      .filter(({ id }) => this.#spec(id).status === 'running')
      .map(({ id, account, lastUsedMs }) => ({ id, account, lastUsedMs }))
      .sort((a, b) => a.lastUsedMs - b.lastUsedMs)
  }

  /** The running devboxes, with what each may hold. */
  runningDisks(): WatchedDisk[] {
    return [...this.#lives.keys()]
      .map((id) => this.#spec(id))
      .filter(({ status }) => status === 'running')
      .map(({ id, account, create_time_ms, launch_parameters }) => {
        const limitBytes = resourcesOf(launch_parameters).diskGb * 2 ** 30
        return { id, account, limitBytes, createTimeMs: create_time_ms }
      })
  }

  /** Suspends a running devbox whose disk holds more than it may, and says so in its log. */
  suspendFull(id: string, usedBytes: number): void {
    const { launch_parameters, status } = this.#spec(id)
    if (status !== 'running') return
    const gigabytes = (usedBytes / 2 ** 30).toFixed(2)
    const message = `Out of disk: ${gigabytes} of ${resourcesOf(launch_parameters).diskGb} GiB are used, each file counting as 4 KiB at least, and the devbox is suspended. Resume it to remove files: it may be used as long as it does not grow`
    this.#options.logs.append(id, { level: 'error', source: 'kmsg', message })
    void this.#suspendUnasked(id)
  }

  suspend(account: string, id: string): Devbox {
    this.#require(account, id, 'suspend')
    this.#move(id, 'suspend')
    void this.#bringDown(id)
    return this.get(account, id)
  }

  resume(account: string, id: string): Devbox {
    const refusal = resumeRefusal(this.get(account, id))
    if (refusal) throw stateRefusal(refusal)
    // Before anything changes: the policy may be another by now.
    networkOf(account, this.#spec(id).launch_parameters, this.#options)
    this.#requireDescriptors()
    this.#options.store.clearUse(id)
    this.#move(id, 'resume')
    this.#start(id)
    return this.get(account, id)
  }

  /**
   * Resolves when no process is left and the disk is removed. A devbox without a disk stays as it is. Throws 409 while a
   * snapshot of the devbox is being taken, which `force` gives up.
   */
  async shutdown(account: string, id: string, { force }: { force: boolean }): Promise<Devbox> {
    const { snapshots } = this.#options
    const hasDisk = keepsDisk(this.get(account, id))
    if (!force && hasDisk && snapshots.isBeingTaken(id))
      throw new ServiceError(
        'conflict',
        `A snapshot of devbox ${id} is being taken; shut down with force to give it up`,
        { shouldRetry: false },
      )
    if (hasDisk) this.#move(id, 'shutdown', { shutdownReason: 'api_shutdown' })
    await Promise.all([force && snapshots.settled(id, { abort: true }), this.#end(id)])
    return this.get(account, id)
  }

  keepAlive(account: string, id: string): void {
    this.#require(account, id, 'keep_alive')
    const life = this.#lives.get(id)
    life?.touch()
    this.#options.store.setKeepAliveUntil(id, keepAliveUntil(this.#spec(id).launch_parameters, Date.now()))
    life?.arm()
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
    if (refusal) throw stateRefusal(refusal)
  }

  #spec(id: string): DevboxRecord {
    return this.#options.store.mustFind(id)
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
      // A listener that fails does not undo the move.
      logFailure(`Not everything followed devbox ${id} to ${status}`)(error)
    }
    return status
  }

  /** A move that nobody waits for: what a full disk refuses is tried again until it is stored or `over`. */
  #moveInTime(id: string, event: DevboxEvent, reasons: Reasons = {}, over = this.#closing.signal) {
    const unlessOver = () => (over.aborted ? undefined : this.#move(id, event, reasons))
    return untilStored(unlessOver, `Devbox ${id} could not take note of "${event}"`, over)
  }

  /** What becomes of one devbox after a restart of the service. */
  async #takeUp(id: string) {
    const spec = this.#spec(id)
    const idle = idlePolicy(spec.launch_parameters)
    if (spec.status === 'running' && isOverdue(spec)) {
      if (idle?.on_idle === 'suspend') void this.#suspendUnasked(id)
      else void this.#shutDownBecause(id, idle ? 'idle' : 'keep_alive_timeout')
    } else if (spec.status === 'running' && this.#isBarred(spec)) void this.#suspendUnasked(id)
    else if (nextStatus(spec.status, 'recover')) {
      const next = await this.#moveInTime(id, 'recover')
      if (next !== undefined && next !== 'suspended') this.#start(id)
    }
  }

  /**
   * The network it may have is none this service can give: its policy was changed, or there is another engine than
   * before. Unspecified: it is suspended and keeps its disk; resuming it tells the reason.
   */
  #isBarred({ id, account, launch_parameters }: DevboxRecord): boolean {
    try {
      networkOf(account, launch_parameters, this.#options)
      return false
    } catch (error) {
      const message = `The devbox could not be started again: ${(error as Error).message}`
      this.#options.logs.append(id, { level: 'error', source: 'setup_commands', message })
      return true
    }
  }

  /** Finishes what a crash interrupted: removing the disk of a devbox that was shut down, or making a new devbox. */
  async #tidy(ids: readonly string[]) {
    const { store, folderOf } = this.#options
    for (const id of ids) {
      if (this.#closing.signal.aborted) return
      const devbox = store.find(id)
      if (!devbox && isUnfinished(folderOf(id))) await removeFolder(folderOf(id))
      if (!devbox) continue
      if (!keepsDisk(devbox)) await removeDisk(folderOf(id))
      else if (!hasRecordFile(folderOf(id))) await this.#writeRecord(id)
    }
  }

  #start(id: string) {
    const life: Life = new Life(this.#spec(id), this.#options, {
      move: (event, reasons) => this.#moveInTime(id, event, reasons, life.over),
      end: () => void this.#end(id),
      suspend: () => void this.#suspendUnasked(id),
      shutDown: (reason) => void this.#shutDownBecause(id, reason),
    })
    this.#lives.set(id, life)
    life.start(this.#starts)
  }

  async #suspendUnasked(id: string) {
    if (await this.#moveInTime(id, 'suspend')) await this.#bringDown(id)
  }

  async #shutDownBecause(id: string, shutdownReason: Reasons['shutdownReason']) {
    if (await this.#moveInTime(id, 'shutdown', { shutdownReason })) await this.#end(id)
  }

  /** From suspending to suspended. */
  async #bringDown(id: string) {
    await this.#lives.get(id)?.runSuspendCommands()
    await this.#end(id)
    await this.#moveInTime(id, 'suspended')
  }

  /** Ends the devbox's processes, and removes its disk if it has ended for good. */
  #end(id: string): Promise<void> {
    const { snapshots, executions, folderOf } = this.#options
    const known = this.#endings.get(id)
    const life = this.#lives.get(id)
    this.#lives.delete(id)
    life?.finish()
    const ending = (async () => {
      await known
      if (life) await executions.end(id, () => life.stopProcesses())
      if (this.#closing.signal.aborted || keepsDisk(this.#spec(id))) return
      await snapshots.settled(id, { abort: false })
      await removeDisk(folderOf(id))
    })().catch(logFailure(`Devbox ${id} could not be ended cleanly`))
    this.#endings.set(id, ending)
    return ending.finally(() => {
      if (this.#endings.get(id) === ending) this.#endings.delete(id)
    })
  }

  /** Together and not at once: every write waits for the disk. After a crash the times are a little early. */
  #storeUse() {
    const used = [...this.#lives.values()].filter(
      ({ id, hasNewUse }) => hasNewUse && this.#spec(id).status === 'running',
    )
    if (used.length === 0) return
    try {
      this.#options.store.setLastUsed(new Map(used.map(({ id, lastUsedMs }) => [id, lastUsedMs])))
      for (const life of used) life.markUseStored()
    } catch (error) {
      logFailure('The use of devboxes could not be stored')(error)
    }
  }
}

/** Unspecified: 400 is what the public clients know for a state that forbids the call. */
const stateRefusal = (reason: string) => new ServiceError('invalid_argument', reason, { shouldRetry: false })

/** Its time was over while the service was down. */
const isOverdue = ({ keep_alive_until_ms, last_used_ms, launch_parameters }: DevboxRecord): boolean => {
  const idle = idlePolicy(launch_parameters)
  const untilMs = idle ? last_used_ms && last_used_ms + idle.idle_time_seconds * 1000 : keep_alive_until_ms
  return untilMs !== null && untilMs <= Date.now()
}
