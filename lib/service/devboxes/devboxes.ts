import { EventEmitter } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Devbox,
  type DevboxAction,
  type DevboxCreate,
  type DevboxUpdate,
  devboxRefusal,
  keepsDisk,
  resumeRefusal,
} from '#lib/contract/devboxes.ts'
import { type LaunchParameters, resourcesOf } from '#lib/contract/launch-parameters.ts'
import { type DevboxEvent, keepAliveUntil, nextStatus } from '#lib/service/domain/devboxes.ts'
import { mergeLaunchParameters, userOf } from '#lib/service/domain/launch-parameters.ts'
import { placementProblem } from '#lib/service/domain/placement.ts'
import type { Cluster, Origin, RunningDevbox, Usage } from '#lib/service/engine/box.ts'
import type { Engines } from '#lib/service/engine/choose-engine.ts'
import type { TakenOver } from '#lib/service/executions/executions.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { hasDescriptorsFor } from '#lib/service/kit/descriptors.ts'
import { invalid, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { logChanges, logError, logFailure } from '#lib/service/kit/log.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import { callKey, Replays } from '#lib/service/kit/replays.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import { untilStored } from '#lib/service/kit/until-stored.ts'
import { waitForChange } from '#lib/service/kit/wait-for-change.ts'
import type { DevboxRecord } from '#lib/service/store/devboxes.ts'
import { type LostAndFound, namesIn } from '#lib/service/store/lost-and-found.ts'
import { setupFile, writeSetup } from './agent-setup.ts'
import type { WatchedDisk } from './disk-watch.ts'
import { isUnfinished, removeStaged, stageMounts } from './mounts.ts'
import { type NewDevboxPlan, newTunnel, planDevbox, requireOneSource } from './new-devbox.ts'
import { originFile, writeOrigin } from './origin.ts'
import type { MountSources } from './plan-mounts.ts'
import { hasRecordFile, writeDevboxFile } from './record-file.ts'
import { DevboxSession, networkOf, type Reasons, type SessionOptions } from './session.ts'

const maxStartMs = 24 * 60 * 60 * 1000
// More parallel starts don't finish sooner and slow down the service.
const maxConcurrentStarts = 8
// The nodes do most of the work.
const maxConcurrentClusterStarts = 32
// Unspecified: number of parallel copies. More would slow down each other and running commands.
const maxConcurrentRestores = 2
const watchMs = 2000
const saveRetryMs = 10_000
const maxKeptProblems = 1000
// A swarm declares a node down within 30 s.
const maxVerdictMs = 60_000
const verdictPollMs = 250
const maxProbeMs = 2000
/** After that, the engine doesn't respond. */
const maxAdoptionWaitMs = 20_000

interface Options extends SessionOptions, MountSources {
  terminals: SessionOptions['terminals'] & { keepOnly(devboxIds: { has(devboxId: string): boolean }): void }
  engineFor: Engines['kindFor']
  cluster?: Cluster | undefined
  maxPerAccount: number
  lostAndFound: LostAndFound
  executions: SessionOptions['executions'] & {
    recover(takenOver: (devboxId: string) => TakenOver | undefined): Promise<void>
    detach(devboxId: string): Promise<void>
    end(devboxId: string, stopProcesses: () => Promise<void>): Promise<void>
  }
}

interface How {
  requestId?: string
  initiatorType?: NonNullable<Devbox['initiator_type']>
  initiatorId?: string
  /** Default: a disk from the snapshot in the request body, or an empty one. Other origins require isolation. */
  origin?: Origin
  /** Overrides the request body. */
  network?: 'none'
}

export class Devboxes {
  readonly changes = new EventEmitter().setMaxListeners(0)
  readonly #options: Options
  readonly #sessions = new Map<string, DevboxSession>()
  readonly #stops = new Map<string, Promise<void>>()
  /** Devboxes that an earlier service left running, until they are ready. */
  readonly #adoptions = new Map<string, Promise<RunningDevbox | undefined>>()
  readonly #starts = new Slots(maxConcurrentStarts)
  readonly #clusterStarts = new Slots(maxConcurrentClusterStarts)
  // Separate slots, so restoring large disks doesn't delay other starts.
  readonly #restores = new Slots(maxConcurrentRestores)
  readonly #replays = new Replays<string>()
  readonly #closing = new AbortController()
  readonly #storedUse = new Map<string, number>()
  readonly #problems = new Map<string, string>()
  /** Suspended devboxes whose disks are on their nodes. */
  readonly #unsaved = new Set<string>()
  #saving: Promise<void> | undefined
  readonly #useLog = logChanges(
    'Could not store the last use of devboxes; retrying',
    'The last use of devboxes is stored again',
  )
  #watch: NodeJS.Timeout | undefined
  #saveTimer: NodeJS.Timeout | undefined
  #sweep: Promise<void> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
  }

  /** Devboxes that an earlier service may have left running. */
  left(): Set<string> {
    const { store, engineOf } = this.#options
    const canBeLeft = (devbox: DevboxRecord) => {
      try {
        return devbox.status === 'running' && engineOf(devbox).adopt !== undefined
      } catch {
        // It belongs to an engine that this service doesn't have.
        return false
      }
    }
    return new Set(store.unended().filter((id) => canBeLeft(store.mustFind(id))))
  }

  /** False if the devbox ends with the service. */
  outlivesService(id: string): boolean {
    return this.#sessions.get(id)?.outlivesService ?? false
  }

  // Call once leftover processes are dead. Devboxes are starting, not running, when this resolves.
  async recover(): Promise<void> {
    const { store, executions, terminals, folderOf, lostAndFound } = this.#options
    const takenOver = new Map<string, TakenOver>()
    for (const id of this.left()) {
      const running = this.#takeOver(id).finally(() => this.#adoptions.delete(id))
      this.#adoptions.set(id, running)
      takenOver.set(id, { account: this.#spec(id).account, running })
    }
    terminals.keepOnly(takenOver)
    await executions.recover((id) => takenOver.get(id))
    const isKnown = (id: string) => store.find(id) !== undefined || isUnfinished(folderOf(id))
    for (const id of namesIn(folderOf(''))) if (!isKnown(id)) lostAndFound.take('devboxes', id)
    for (const id of store.unended())
      if (!takenOver.has(id)) this.#restore(id).catch(logFailure(`Could not restore devbox ${id}`))
    this.#sweep = this.#cleanUp(namesIn(folderOf(''))).catch(
      logFailure('Could not delete disks of devboxes that were shut down'),
    )
    this.#watch = setInterval(() => {
      for (const session of this.#sessions.values()) session.countKills()
      this.#storeLastUsed()
    }, watchMs).unref()
    for (const id of store.withDisk()) if (store.mustFind(id).node) this.#unsaved.add(id)
    this.#saveTimer = setInterval(() => {
      this.#saving ??= this.#saveDisks().finally(() => {
        this.#saving = undefined
      })
    }, saveRetryMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#watch)
    clearInterval(this.#saveTimer)
    this.#storeLastUsed()
    this.#closing.abort()
    let left = 0
    for (const [id, session] of this.#sessions)
      if (session.outlivesService) {
        left++
        this.#detach(id, session)
      } else this.#end(id)
    await Promise.allSettled([...this.#stops.values(), this.#sweep, this.#saving])
    if (left === 0) return
    const message = `${countOf(left, 'devbox', 'devboxes')} kept running. The next start of the service continues with them`
    logError({ level: 'info', message })
  }

  #detach(id: string, session: DevboxSession) {
    this.#sessions.delete(id)
    session.finish()
    this.#stops.set(
      id,
      this.#options.executions.detach(id).then(() => session.detach()),
    )
  }

  async create(account: string, body: DevboxCreate, how: How = {}): Promise<Devbox> {
    const make = () => this.#create(account, body, how)
    const { requestId } = how
    const id = requestId === undefined ? make() : this.#replays.once(callKey(account, requestId, body), make)
    return this.get(account, await id)
  }

  async #create(account: string, body: DevboxCreate, how: How): Promise<string> {
    const { store, folderOf, engineOf, engineFor, serviceId, blueprints, snapshots } = this.#options
    const { origin, network } = how
    requireOneSource(body)
    const fromSnapshot = body.snapshot_id ? snapshots.blueprintOf(account, body.snapshot_id) : null
    const blueprint = blueprints.forDevbox(account, body)
    const launch_parameters = this.launchParametersOf(account, body)
    const { mounts, setup, ...planned } = planDevbox(account, { ...body, launch_parameters }, this.#options)
    const { snapshot_id } = planned
    if (snapshot_id !== null) snapshots.requireComplete(account, snapshot_id)
    const snapshotEngine = snapshot_id === null ? undefined : snapshots.engineOf(snapshot_id)
    const plan = { ...planned, engine: engineFor({ origin, snapshotEngine, blueprint }) }
    this.#requireAvailable(account, plan)
    this.#requireUser(plan, blueprint?.id ?? fromSnapshot)
    if (plan.engine === 'swarm') requirePlacement({ ...blueprint?.metadata, ...body.metadata })
    if (origin && engineOf(plan).isolation === 'none')
      throw new ServiceError('not_implemented', "Devboxes without isolation can't have their own top-level folders", {
        shouldRetry: false,
      })
    await engineOf(plan).requireAvailable?.()
    const id = newId('dbx')
    try {
      await mkdir(folderOf(id), { recursive: true, mode: 0o700 })
      const { isolation } = engineOf(plan)
      await stageMounts(folderOf(id), mounts, {
        maxBytes: resourcesOf(plan.launch_parameters).diskGb * 2 ** 30,
        isolation: isolation === 'bubblewrap' ? isolation : 'none',
        marks: { DEVDECK_SERVICE_ID: serviceId },
      })
      if (setup.length > 0) await writeSetup(folderOf(id), setup)
      if (origin) await writeOrigin(folderOf(id), { origin, ...(network && { network }) })
      // Any of this may have changed by now.
      this.#requireAvailable(account, plan)
      if (blueprint) blueprints.forDevbox(account, { blueprint_id: blueprint.id })
      const now = Date.now()
      store.insert({
        id,
        account,
        name: body.name || null,
        // Unspecified: what the flex tier waits for. Here it queues for a start slot.
        status: plan.launch_parameters.provisioning_tier === 'flex' ? 'queued' : 'provisioning',
        create_time_ms: now,
        metadata: body.metadata ?? {},
        tunnel: body.tunnel ? newTunnel(body.tunnel, now) : null,
        initiator_type: how.initiatorType ?? 'api',
        initiator_id: how.initiatorId ?? null,
        // A snapshot needs the system of its devbox.
        blueprint_id: blueprint?.id ?? fromSnapshot,
        image: blueprint?.image ?? (fromSnapshot === null ? null : blueprints.imageOf(fromSnapshot)),
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

  /** Includes those of the blueprint. Throws 404, or 400 unless that is built. */
  launchParametersOf(account: string, body: DevboxCreate): LaunchParameters {
    const { parameters } = this.#options.blueprints.forDevbox(account, body) ?? {}
    return mergeLaunchParameters(parameters?.launch_parameters, body.launch_parameters)
  }

  #requireAvailable(account: string, plan: Omit<NewDevboxPlan, 'mounts' | 'setup'> & Pick<DevboxRecord, 'engine'>) {
    const { store, maxPerAccount, secrets, snapshots } = this.#options
    if (plan.snapshot_id !== null) snapshots.requireComplete(account, plan.snapshot_id)
    const missing = secrets.missing(account, [...new Set(Object.values(plan.secrets))])
    if (missing.length > 0) throw invalid({ field: 'secrets', message: `secret ${missing.join(', ')} not found` })
    networkOf({ account, ...plan }, this.#options)
    this.#requireDescriptors()
    if (store.countWithDisk(account) >= maxPerAccount)
      throw new ServiceError(
        'rate_limited',
        `The account has reached its limit of ${maxPerAccount} devboxes, including failed ones with a disk; shut some down`,
        { retryAfterSeconds: 5 },
      )
  }

  #requireUser(
    { engine, launch_parameters }: Pick<DevboxRecord, 'engine' | 'launch_parameters'>,
    blueprint: string | null,
  ) {
    const user = userOf(launch_parameters)
    if (!user) return
    const isOnHost = engine === 'local' && blueprint !== null
    const problem = isOnHost
      ? 'must be user with uid 1000 for blueprints built over the host system'
      : this.#options.engineOf({ engine }).userProblem(user)
    if (problem === undefined) return
    const field = 'launch_parameters.user_parameters'
    throw new ServiceError('not_implemented', `${field} ${problem}`, { field, shouldRetry: false })
  }

  /** Throws 503. Starting devboxes haven't opened their files yet. */
  #requireDescriptors() {
    const starting = [...this.#sessions.values()].filter(({ running }) => !running).length
    if (hasDescriptorsFor(starting + 1)) return
    throw new ServiceError(
      'unavailable',
      'The service is running out of file descriptors; raise `ulimit -n` or shut down devboxes',
      { retryAfterSeconds: 5 },
    )
  }

  get(account: string, id: string): Devbox {
    return this.#options.store.get(account, id) ?? notFound('devbox', id)
  }

  async update(account: string, id: string, change: DevboxUpdate): Promise<Devbox> {
    this.get(account, id)
    this.#options.store.update(id, change)
    await this.#writeRecord(id)
    return this.get(account, id)
  }

  #writeRecord(id: string): Promise<void> {
    return writeDevboxFile(this.#options.folderOf(id), this.#spec(id)).catch(
      logFailure(`Could not write the record file of devbox ${id}`),
    )
  }

  /** Resolves once the devbox has one of `statuses`; undefined on timeout or disconnect. Throws 404. */
  reaches(
    account: string,
    id: string,
    statuses: readonly string[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Devbox | undefined> {
    const check = () => {
      const devbox = this.get(account, id)
      return statuses.includes(devbox.status) ? devbox : undefined
    }
    return waitForChange({ changes: this.changes, name: 'status', check, timeoutMs, signal })
  }

  /** After a restart, waits for a devbox that kept running. Call before `running`, which would throw 503. */
  async adopted(id: string): Promise<void> {
    const adoption = this.#adoptions.get(id)
    if (adoption) await Promise.race([adoption, delay(maxAdoptionWaitMs, undefined, { ref: false })])
  }

  /** Throws 404, or 400 with the reason why `action` isn't possible. */
  running(account: string, id: string, action: DevboxAction): RunningDevbox {
    this.#require(account, id, action)
    const running = this.#sessions.get(id)?.running
    if (!running) throw new ServiceError('unavailable', `Devbox ${id} is not ready`, { retryAfterSeconds: 1 })
    const { node } = running.box
    if (!this.#isReachable(id))
      throw new ServiceError('unavailable', `Node ${node?.hostname}, where devbox ${id} runs, can't be reached`, {
        retryAfterSeconds: 5,
      })
    return running
  }

  /** Whether the API of its node responds. */
  #isReachable(id: string): boolean {
    const node = this.#sessions.get(id)?.running?.box.node
    return !node || !this.#options.cluster?.nodes().some((each) => each.id === node.id && each.problem !== undefined)
  }

  /** Undefined if the devbox isn't running or its node can't be reached. */
  async usage(id: string): Promise<Usage | undefined> {
    if (this.#isReachable(id)) return this.#sessions.get(id)?.running?.box.usage()
  }

  /** Why a devbox failed lately, for messages. */
  problemOf(id: string): string | undefined {
    return this.#problems.get(id)
  }

  waitsForNode(id: string): boolean {
    const { cluster } = this.#options.engineOf(this.#spec(id))
    return cluster?.waiting().some(({ devboxId }) => devboxId === id) ?? false
  }

  /** Why the devbox's node is lost; undefined if it isn't. While the node doesn't respond, waits for the swarm to decide. */
  async lostNode(id: string): Promise<string | undefined> {
    for (const untilMs = Date.now() + maxVerdictMs; ; ) {
      if (this.#spec(id).failure_reason === 'node_lost') return this.problemOf(id) ?? 'Its node was lost'
      const box = this.#sessions.get(id)?.running?.box
      if (!box?.node) return undefined
      const isUnavailable = (error: unknown) => error instanceof ServiceError && error.code === 'unavailable'
      const probe = box.usage().then(
        () => true,
        (error: unknown) => !isUnavailable(error),
      )
      const isSilent = delay(maxProbeMs, false, { ref: false })
      if (await Promise.race([probe, isSilent, box.ended.then(() => false)])) return undefined
      if (Date.now() > untilMs) return `Node ${box.node.hostname} does not respond`
      await delay(verdictPollMs)
    }
  }

  leastRecentlyUsed(): { id: string; account: string }[] {
    return [...this.#sessions.values()]
      .filter(({ id }) => this.#spec(id).status === 'running')
      .map(({ id, account, lastUsedMs }) => ({ id, account, lastUsedMs }))
      .sort((a, b) => a.lastUsedMs - b.lastUsedMs)
  }

  runningDisks(): WatchedDisk[] {
    return [...this.#sessions.keys()]
      .filter((id) => this.#isReachable(id))
      .map((id) => this.#spec(id))
      .filter(({ status }) => status === 'running')
      .map(({ id, account, create_time_ms, launch_parameters }) => {
        const limitBytes = resourcesOf(launch_parameters).diskGb * 2 ** 30
        return { id, account, limitBytes, createTimeMs: create_time_ms }
      })
  }

  suspendFull(id: string, usedBytes: number): void {
    const { launch_parameters, status } = this.#spec(id)
    if (status !== 'running') return
    const gigabytes = (usedBytes / 2 ** 30).toFixed(2)
    const message = `Out of disk: ${gigabytes} of ${resourcesOf(launch_parameters).diskGb} GiB used (at least 4 KiB per file). The devbox is suspended. Resume it to delete files; it keeps running while its disk doesn't grow`
    this.#options.logs.append(id, { level: 'error', source: 'kmsg', message })
    void this.#suspendAutomatically(id)
  }

  suspend(account: string, id: string): Devbox {
    this.#require(account, id, 'suspend')
    this.#move(id, 'suspend')
    void this.#finishSuspend(id)
    return this.get(account, id)
  }

  async resume(account: string, id: string): Promise<Devbox> {
    const requireResumable = () => {
      const reason = resumeRefusal(this.get(account, id))
      if (reason) throw invalidState(reason)
    }
    requireResumable()
    networkOf(this.#spec(id), this.#options)
    this.#requireDescriptors()
    const engine = this.#options.engineOf(this.#spec(id))
    await engine.requireAvailable?.()
    const lastSnapshotId = this.#options.snapshots.latestOf(id) ?? this.#spec(id).snapshot_id ?? undefined
    await engine.requireDisk?.(id, lastSnapshotId)
    requireResumable()
    this.#options.store.clearUse(id)
    this.#move(id, 'resume')
    this.#start(id)
    return this.get(account, id)
  }

  /** Resolves when processes have ended and the disk is deleted. Throws 409 during a snapshot, which `force` cancels. */
  async shutdown(account: string, id: string, { force }: { force: boolean }): Promise<Devbox> {
    const { snapshots } = this.#options
    const hasDisk = keepsDisk(this.get(account, id))
    if (!force && hasDisk && snapshots.isBeingTaken(id))
      throw new ServiceError(
        'conflict',
        `A snapshot of devbox ${id} is in progress; shut down with force to cancel it`,
        { shouldRetry: false },
      )
    if (hasDisk) this.#move(id, 'shutdown', { shutdownReason: 'api_shutdown' })
    await Promise.all([force && snapshots.settled(id, { abort: true }), this.#end(id)])
    return this.get(account, id)
  }

  /** Resolves once a devbox that is ending has ended. */
  async settled(id: string): Promise<void> {
    await this.#stops.get(id)
  }

  keepAlive(account: string, id: string): void {
    this.#require(account, id, 'keep_alive')
    const session = this.#sessions.get(id)
    session?.touch()
    this.#options.store.setKeepAliveUntil(id, keepAliveUntil(this.#spec(id).launch_parameters, Date.now()))
    session?.arm()
  }

  /** Suspends the devbox once it is running. Does nothing if it is suspended or has ended. */
  async evict(id: string): Promise<void> {
    const check = () => {
      const { status } = this.#spec(id)
      return status === 'running' || nextStatus(status, 'fail') === undefined ? status : undefined
    }
    const { changes, signal } = { changes: this.changes, signal: this.#closing.signal }
    const status = await waitForChange({ changes, name: 'status', check, timeoutMs: maxStartMs, signal })
    if (status === 'running') await this.#suspendAutomatically(id)
  }

  #require(account: string, id: string, action: DevboxAction) {
    const reason = devboxRefusal(action, this.get(account, id).status)
    if (reason) throw invalidState(reason)
  }

  #spec(id: string): DevboxRecord {
    return this.#options.store.mustFind(id)
  }

  #move(id: string, event: DevboxEvent, reasons: Reasons = {}): string | undefined {
    if (this.#closing.signal.aborted) return undefined
    const before = this.#spec(id).status
    const status = nextStatus(before, event)
    if (!status || status === before) return status
    this.#options.store.move(id, { status, timeMs: Date.now(), ...reasons })
    try {
      this.changes.emit('status', id, status)
    } catch (error) {
      logFailure(`A status listener failed for devbox ${id} (${status})`)(error)
    }
    return status
  }

  /** Changes the status in the background, retrying on a full disk until stored or `stopped`. */
  #moveWithRetry(id: string, event: DevboxEvent, reasons: Reasons = {}, stopped = this.#closing.signal) {
    const unlessStopped = () => (stopped.aborted ? undefined : this.#move(id, event, reasons))
    return untilStored(unlessStopped, `Could not store the event "${event}" of devbox ${id}`, stopped)
  }

  async #takeOver(id: string): Promise<RunningDevbox | undefined> {
    const session = this.#newSession(id)
    const running = await session.takeOver()
    if (running || session.stopped.aborted) return running
    this.#sessions.delete(id)
    this.#restore(id).catch(logFailure(`Could not restore devbox ${id}`))
    return undefined
  }

  async #restore(id: string) {
    if (nextStatus(this.#spec(id).status, 'recover') === undefined) return
    const next = await this.#moveWithRetry(id, 'recover')
    if (next !== undefined && next !== 'suspended') this.#start(id)
  }

  async #cleanUp(ids: readonly string[]) {
    const { store, folderOf } = this.#options
    for (const id of ids) {
      if (this.#closing.signal.aborted) return
      const devbox = store.find(id)
      if (!devbox && isUnfinished(folderOf(id))) await removeFolder(folderOf(id))
      if (!devbox) continue
      if (!keepsDisk(devbox)) await this.#removeDisk(devbox)
      else if (!hasRecordFile(folderOf(id))) await this.#writeRecord(id)
    }
  }

  #start(id: string) {
    const { cluster } = this.#options.engineOf(this.#spec(id))
    const slots = cluster
      ? { starts: this.#clusterStarts, restores: this.#clusterStarts }
      : { starts: this.#starts, restores: this.#restores }
    this.#newSession(id).start(slots, this.#stops.get(id))
  }

  #newSession(id: string): DevboxSession {
    const session: DevboxSession = new DevboxSession(this.#spec(id), this.#options, {
      move: (event, reasons) => this.#moveWithRetry(id, event, reasons, session.stopped),
      problem: (sentence) => this.#keepProblem(id, sentence),
      end: () => void this.#end(id),
      suspend: () => void this.#suspendAutomatically(id),
      shutDown: (reason) => void this.#shutDown(id, reason),
    })
    this.#sessions.set(id, session)
    return session
  }

  #keepProblem(id: string, sentence: string) {
    this.#problems.set(id, sentence)
    const [oldest] = this.#problems.keys()
    if (this.#problems.size > maxKeptProblems && oldest !== undefined) this.#problems.delete(oldest)
  }

  async #suspendAutomatically(id: string) {
    if (await this.#moveWithRetry(id, 'suspend')) await this.#finishSuspend(id)
  }

  async #shutDown(id: string, shutdownReason: Reasons['shutdownReason']) {
    if (await this.#moveWithRetry(id, 'shutdown', { shutdownReason })) await this.#end(id)
  }

  async #finishSuspend(id: string) {
    await this.#sessions.get(id)?.runSuspendCommands()
    await this.#end(id)
    await this.#saveDisk(id)
    await this.#moveWithRetry(id, 'suspended')
  }

  #logDisk(id: string, level: 'info' | 'warn', message: string) {
    this.#options.logs.append(id, { level, source: 'setup_commands', message })
  }

  async #saveDisk(id: string) {
    try {
      await this.#save(id)
    } catch (error) {
      if (this.#closing.signal.aborted) return
      if (!(error instanceof ServiceError)) logFailure(`Could not save the disk of devbox ${id}`)(error)
      this.#logDisk(id, 'warn', `The disk stays on its node: ${(error as Error).message}`)
      this.#unsaved.add(id)
    }
  }

  /** Makes the disk independent of its node, if the engine can. */
  async #save(id: string): Promise<void> {
    const { engineOf, store } = this.#options
    const { disks } = engineOf(this.#spec(id))
    if (!disks.save) return
    await disks.save(id, this.#closing.signal)
    if (this.#spec(id).status.startsWith('suspend')) store.setNode(id, null)
  }

  /** A registry or a node may be back. */
  async #saveDisks() {
    for (const id of this.#unsaved) {
      if (this.#closing.signal.aborted) return
      if (this.#spec(id).status === 'suspended')
        try {
          await this.#save(id)
          this.#logDisk(id, 'info', 'The disk is saved, and the devbox can resume on any node')
        } catch (error) {
          if (error instanceof ServiceError && error.code === 'unavailable') continue
          logFailure(`Could not save the disk of devbox ${id}`)(error)
        }
      this.#unsaved.delete(id)
    }
  }

  #end(id: string): Promise<void> {
    const { store, snapshots, executions } = this.#options
    const known = this.#stops.get(id)
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    this.#storedUse.delete(id)
    session?.finish()
    const before = store.find(id)
    const ending = (async () => {
      await known
      if (session) await executions.end(id, () => session.stopProcesses())
      // The record of a devbox that was shut down may have been deleted.
      const devbox = store.find(id) ?? before
      if (!devbox || this.#closing.signal.aborted || keepsDisk(devbox)) return
      await snapshots.settled(id, { abort: false })
      await this.#removeDisk(devbox)
    })().catch(logFailure(`Could not stop devbox ${id} cleanly`))
    this.#stops.set(id, ending)
    return ending.finally(() => {
      if (this.#stops.get(id) === ending) this.#stops.delete(id)
    })
  }

  async #removeDisk(devbox: DevboxRecord) {
    const { engineOf, folderOf } = this.#options
    await engineOf(devbox).disks.remove(devbox.id)
    await removeStaged(folderOf(devbox.id))
    for (const file of [originFile, setupFile]) await rm(join(folderOf(devbox.id), file), { force: true })
  }

  /** Batched, because every write waits for the disk. */
  #storeLastUsed() {
    const used = [...this.#sessions.values()].filter(
      ({ id, lastUsedMs }) => lastUsedMs > (this.#storedUse.get(id) ?? 0) && this.#spec(id).status === 'running',
    )
    if (used.length === 0) return
    const lastUsed = new Map(used.map(({ id, lastUsedMs }) => [id, lastUsedMs]))
    try {
      this.#options.store.setLastUsed(lastUsed)
      for (const [id, ms] of lastUsed) this.#storedUse.set(id, ms)
      this.#useLog.succeeded()
    } catch (error) {
      this.#useLog.failed(error)
    }
  }
}

const requirePlacement = (metadata: Record<string, string>) => {
  const message = placementProblem(metadata)
  if (message !== undefined) throw invalid({ field: 'metadata', message })
}

/** Unspecified: public clients expect 400 if the state doesn't allow the request. */
const invalidState = (reason: string) => new ServiceError('invalid_argument', reason, { shouldRetry: false })
