import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Devbox,
  type DevboxAction,
  type DevboxCreate,
  type DevboxUpdate,
  devboxRefusal,
  hasEnded,
} from '#lib/contract/devboxes.ts'
import type { TunnelOptions } from '#lib/contract/tunnels.ts'
import { type DevboxEvent, hostnameFor, idleRule, keepAliveUntil, nextStatus } from '#lib/service/domain/devboxes.ts'
import { notFound, ServiceError } from '#lib/service/errors.ts'
import { newId } from '#lib/service/ids.ts'
import type { DevboxSpec, DevboxStore } from '#lib/service/store/devboxes.ts'
import type { NetworkPolicyStore } from '#lib/service/store/network-policies.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import { at } from '#lib/service/timer.ts'
import type { Executions, RunningDevbox } from './execution.ts'
import { hold } from './hold.ts'
import type { DevboxLogs } from './logs.ts'
import { endProcesses } from './sandbox/plain-process.ts'
import { type Box, type Sandbox, spawnIn } from './sandbox/sandbox.ts'
import type { Snapshots } from './snapshot.ts'

// A devbox whose launch commands take longer is not evicted.
const maxStartMs = 24 * 60 * 60 * 1000

interface Options {
  store: DevboxStore
  /** Devboxes that have not ended. */
  maxPerAccount: number
  secrets: SecretStore
  networkPolicies: NetworkPolicyStore
  snapshots: Snapshots
  logs: DevboxLogs
  executions: Executions
  sandbox: Sandbox
  serviceId: string
  folderOf: (devboxId: string) => string
  log: (entry: object) => void
}

interface Reasons {
  failureReason?: 'execution_failed' | 'health_check_failed'
  shutdownReason?: 'api_shutdown' | 'keep_alive_timeout' | 'entrypoint_exit' | 'idle'
}

/** From one start of a devbox to its end: what runs now. */
interface Life {
  env: Record<string, string>
  box?: Box
  /** Set once the processes are to end; whoever is still starting something stops there. */
  over: boolean
  started: Promise<void>
  busy: number
  /** Takes back the timer of the keep-alive time or of the idle rule. */
  cancelTimer: () => void
}

/** Every devbox of the service: moves it through its states and owns its processes. */
export class Devboxes {
  /** Emits `status` with (id, status) after every move. */
  readonly changes = new EventEmitter().setMaxListeners(0)
  readonly #options: Options
  readonly #lives = new Map<string, Life>()
  /** Ends under way: processes are being killed, then the disk goes if the devbox has ended. */
  readonly #endings = new Map<string, Promise<void>>()
  #closing = false

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Takes up where the last life of the service ended: kills what it left running, completes its executions, settles
   * states in between, and starts what was running. The devboxes are starting, not running, when this resolves.
   */
  async recover(): Promise<void> {
    const { store, executions, serviceId, folderOf } = this.#options
    await endProcesses({ DEVDECK_SERVICE_ID: serviceId })
    await executions.recover()
    for (const id of store.unended()) {
      if (this.#move(id, 'recover') === 'initializing') this.#start(id)
    }
    // A crash may have come between the end of a devbox and that of its disk.
    const unended = new Set(store.unended())
    for (const id of await readdir(folderOf('')).catch(() => []))
      if (!unended.has(id) && existsSync(join(folderOf(id), 'home'))) await this.#removeDisk(id)
  }

  /** Ends all processes and leaves every state as it is, for the next life to take up. */
  async close(): Promise<void> {
    this.#closing = true
    for (const id of this.#lives.keys()) this.#end(id)
    await Promise.allSettled(this.#endings.values())
  }

  async create(account: string, body: DevboxCreate): Promise<Devbox> {
    refuseUnsupported(body)
    const environment = checkedEnvironment(body.environment_variables ?? {})
    const files = Object.entries(body.file_mounts ?? {}).map(([path, text]) => [pathBelowHome(path), text] as const)
    const parameters = body.launch_parameters ?? {}
    const id = newId('dbx')
    const now = Date.now()
    await this.#makeHome(id, files)
    this.#options.store.insert({
      id,
      account,
      name: body.name || null,
      status: 'provisioning',
      create_time_ms: now,
      launch_parameters: {
        ...parameters,
        ...(idleRule(parameters) ? {} : { keep_alive_time_seconds: keepAliveSeconds(parameters) }),
      },
      environment_variables: environment,
      entrypoint: body.entrypoint || null,
      metadata: body.metadata ?? {},
      tunnel: body.tunnel ? newTunnel(body.tunnel, now) : null,
    })
    const created = this.get(account, id)
    this.#start(id)
    return created
  }

  async #makeHome(id: string, files: (readonly [path: string, text: string])[]) {
    const folder = this.#options.folderOf(id)
    const home = join(folder, 'home')
    try {
      await mkdir(home, { recursive: true, mode: 0o700 })
      await writeFile(join(home, '.bashrc'), bashrc)
      for (const [path, text] of files) {
        await mkdir(dirname(join(home, path)), { recursive: true })
        await writeFile(join(home, path), text)
      }
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw isPathProblem(error) ? refusedMount(`a path cannot be made (${error.code})`) : error
    }
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
    return { box: life.box, env: life.env, runFolder: this.#site(id).run, busy: () => this.#busy(id, life) }
  }

  suspend(account: string, id: string): Devbox {
    this.#require(account, id, 'suspend')
    this.#suspend(id)
    return this.get(account, id)
  }

  resume(account: string, id: string): Devbox {
    this.#require(account, id, 'resume')
    this.#move(id, 'resume')
    this.#options.store.keepAliveUntil(id, null)
    this.#start(id)
    return this.get(account, id)
  }

  /** Resolves when no process is left and the disk is gone. A devbox that has ended stays as it is. */
  async shutdown(account: string, id: string): Promise<Devbox> {
    this.get(account, id)
    this.#move(id, 'shutdown', { shutdownReason: 'api_shutdown' })
    await this.#end(id)
    return this.get(account, id)
  }

  keepAlive(account: string, id: string): void {
    this.#require(account, id, 'keep_alive')
    this.#options.store.keepAliveUntil(id, keepAliveUntil(this.#spec(id).launch_parameters, Date.now()))
    this.#arm(id)
  }

  /** Suspends the devbox, once it runs if it is starting; nothing when it is suspended or has ended. */
  async evict(id: string): Promise<void> {
    const check = () => {
      const { status } = this.#spec(id)
      return status === 'running' || nextStatus(status, 'fail') === undefined ? status : undefined
    }
    const status = await hold({ changes: this.changes, name: 'status', check, holdMs: maxStartMs })
    if (status === 'running') this.#suspend(id)
  }

  #suspend(id: string) {
    if (!this.#move(id, 'suspend')) return
    void this.#end(id).then(() => this.#move(id, 'suspended'))
  }

  #require(account: string, id: string, action: DevboxAction) {
    const refusal = devboxRefusal(action, this.get(account, id).status)
    // Unspecified: 400 is what the public clients know for a state that forbids the call.
    if (refusal) throw new ServiceError('invalid_argument', refusal, { shouldRetry: false })
  }

  #spec(id: string): DevboxSpec {
    return this.#options.store.spec(id)
  }

  #site(id: string) {
    const { serviceId, folderOf } = this.#options
    const folder = folderOf(id)
    const hostname = hostnameFor(this.#spec(id).name, id)
    return {
      devboxId: id,
      serviceId,
      hostname,
      home: join(folder, 'home'),
      tmp: join(folder, 'tmp'),
      run: join(folder, 'run'),
      limits: { cpuCores: 2, memoryBytes: 4 * 2 ** 30, diskBytes: 8 * 2 ** 30 },
      network: 'host' as const,
    }
  }

  /** The new status, or undefined when the event means nothing in the present one. */
  #move(id: string, event: DevboxEvent, reasons: Reasons = {}): string | undefined {
    if (this.#closing) return undefined
    const status = nextStatus(this.#spec(id).status, event)
    if (!status) return undefined
    this.#options.store.move(id, { status, timeMs: Date.now(), ...reasons })
    this.changes.emit('status', id, status)
    return status
  }

  #start(id: string) {
    const life: Life = {
      env: this.#spec(id).environment_variables,
      over: false,
      started: Promise.resolve(),
      busy: 0,
      cancelTimer: () => undefined,
    }
    this.#lives.set(id, life)
    life.started = this.#bringUp(id, life).catch((error: unknown) => {
      this.#options.log({ message: `Devbox ${id} could not be started`, error: String(error) })
      this.#fail(id, life, 'health_check_failed')
    })
  }

  async #bringUp(id: string, life: Life): Promise<void> {
    const site = this.#site(id)
    await rm(site.run, { recursive: true, force: true })
    for (const folder of [site.home, site.tmp, site.run]) await mkdir(folder, { recursive: true, mode: 0o700 })
    if (life.over) return
    const box = await this.#options.sandbox.start(site)
    life.box = box
    void box.ended.then(() => this.#fail(id, life, 'health_check_failed'))
    if (life.over) return
    this.#move(id, this.#spec(id).status === 'resuming' ? 'resumed' : 'provisioned')
    const { launch_parameters, entrypoint } = this.#spec(id)
    for (const command of launch_parameters.launch_commands ?? []) {
      const code = await this.#run(id, life, command)
      if (life.over) return
      if (code !== 0) return this.#fail(id, life, 'execution_failed')
    }
    this.#move(id, 'initialized')
    this.#arm(id)
    if (entrypoint) void this.#runEntrypoint(id, life, entrypoint)
  }

  async #runEntrypoint(id: string, life: Life, entrypoint: string) {
    try {
      await this.#run(id, life, entrypoint)
    } catch (error) {
      this.#options.log({ message: `The entrypoint of devbox ${id} could not be started`, error: String(error) })
      return this.#fail(id, life, 'execution_failed')
    }
    if (!life.over) this.#shutDownBecause(id, 'entrypoint_exit')
  }

  /** Runs a launch command or the entrypoint to its end; what it writes goes to the devbox's launch log. */
  async #run(id: string, { box, env }: Life, command: string): Promise<number | null> {
    if (!box) throw new Error(`Devbox ${id} has no processes`)
    const log = openSync(join(this.#options.folderOf(id), 'launch.log'), 'a', 0o600)
    try {
      const launch = box.launch({ argv: ['/bin/bash', '-c', command], env })
      const child = spawnIn(launch, { detached: true, stdio: ['ignore', log, log] })
      const [code] = (await once(child, 'exit')) as [number | null]
      return code
    } finally {
      closeSync(log)
    }
  }

  #fail(id: string, life: Life, failureReason: Reasons['failureReason']) {
    if (life.over || !this.#move(id, 'fail', { failureReason })) return
    void this.#end(id)
  }

  /** Ends the devbox's processes, and removes its disk if it has ended for good. */
  #end(id: string): Promise<void> {
    const known = this.#endings.get(id)
    const life = this.#lives.get(id)
    this.#lives.delete(id)
    if (life) {
      life.over = true
      life.cancelTimer()
    }
    const ending = (async () => {
      await known
      if (life) await this.#options.executions.end(id, () => this.#stopProcesses(id, life))
      if (!this.#closing && hasEnded(this.#spec(id).status)) await this.#removeDisk(id)
    })().catch((error: unknown) =>
      this.#options.log({ message: `Devbox ${id} could not be ended cleanly`, error: String(error) }),
    )
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

  async #removeDisk(id: string) {
    for (const folder of ['home', 'tmp', 'run'])
      await rm(join(this.#options.folderOf(id), folder), { recursive: true, force: true, maxRetries: 3 })
  }

  #busy(id: string, life: Life): () => void {
    life.busy++
    this.#arm(id)
    return () => {
      life.busy--
      if (this.#lives.get(id) === life) this.#arm(id)
    }
  }

  /** Sets the one timer that ends or suspends the devbox unasked. */
  #arm(id: string) {
    const life = this.#lives.get(id)
    const { status, launch_parameters, keep_alive_until_ms } = this.#spec(id)
    if (!life || status !== 'running') return
    life.cancelTimer()
    const idle = idleRule(launch_parameters)
    if (idle) {
      if (life.busy === 0)
        life.cancelTimer = at(Date.now() + idle.idle_time_seconds * 1000, () => this.#idle(id, idle.on_idle))
      return
    }
    const until = keep_alive_until_ms ?? keepAliveUntil(launch_parameters, Date.now())
    if (until === null) return
    if (keep_alive_until_ms === null) this.#options.store.keepAliveUntil(id, until)
    life.cancelTimer = at(until, () => this.#shutDownBecause(id, 'keep_alive_timeout'))
  }

  #idle(id: string, onIdle: 'suspend' | 'shutdown') {
    if (onIdle === 'suspend') this.#suspend(id)
    else this.#shutDownBecause(id, 'idle')
  }

  #shutDownBecause(id: string, shutdownReason: Reasons['shutdownReason']) {
    if (this.#move(id, 'shutdown', { shutdownReason })) void this.#end(id)
  }
}

const keepAliveSeconds = (parameters: NonNullable<DevboxCreate['launch_parameters']>) =>
  (keepAliveUntil(parameters, 0) ?? 0) / 1000

const unsupported = [
  'blueprint_id',
  'blueprint_name',
  'snapshot_id',
  'secrets',
  'code_mounts',
  'mounts',
  'gateways',
  'mcp',
] as const

const refuseUnsupported = (body: DevboxCreate) => {
  for (const field of unsupported) {
    const value = body[field]
    if (!value || (typeof value === 'object' && Object.keys(value).length === 0)) continue
    throw new ServiceError('not_implemented', `This service cannot create devboxes with ${field} yet`, {
      field,
      shouldRetry: false,
    })
  }
}

// One string of a process's environment takes 128 KiB, all of them with its arguments a quarter of the stack: 2 MiB.
const maxVariableBytes = 100_000
const maxEnvironmentBytes = 1_000_000

const checkedEnvironment = (variables: Record<string, string>) => {
  const refuse = (name: string, problem: string): never => {
    const field = `environment_variables.${name}`
    throw new ServiceError('invalid_argument', `${field} ${problem}`, { field })
  }
  let total = 0
  for (const [name, value] of Object.entries(variables)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name)) refuse(name, 'is not a name bash accepts')
    if (value.includes('\0')) refuse(name, 'must not contain a NUL character')
    const bytes = name.length + Buffer.byteLength(value)
    total += bytes
    if (bytes > maxVariableBytes) refuse(name, `must not be longer than ${maxVariableBytes} bytes`)
    if (total > maxEnvironmentBytes) refuse(name, `is beyond the ${maxEnvironmentBytes} bytes all variables may take`)
  }
  return variables
}

/** Relative to the home directory, as `~/x`, or below `/home/user/`. */
const pathBelowHome = (path: string): string => {
  const relative = path.replace(/^(~|\/home\/user)\//, '')
  const segments = relative.split('/')
  if (relative.startsWith('/') || relative.includes('\0') || segments.includes('..') || segments.at(-1) === '')
    throw refusedMount(`${JSON.stringify(path)} is not a file below the home directory`)
  return relative
}

const refusedMount = (problem: string) =>
  new ServiceError('invalid_argument', `file_mounts: ${problem}`, { field: 'file_mounts' })

/** What two paths that need one place each as a file and as a folder cause, and names that are too long. */
const isPathProblem = (error: unknown): error is NodeJS.ErrnoException =>
  ['EEXIST', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')

// Unspecified: what a tunnel is without the proxy that serves it. The view is kept as asked for; nothing listens yet.
const newTunnel = ({ auth_mode, http_keep_alive, wake_on_http }: TunnelOptions, now: number): Devbox['tunnel'] => ({
  tunnel_key: randomBytes(16).toString('hex'),
  auth_mode: auth_mode ?? 'open',
  create_time_ms: now,
  http_keep_alive: http_keep_alive ?? true,
  wake_on_http: wake_on_http ?? false,
  auth_token: auth_mode === 'authenticated' ? randomBytes(32).toString('base64url') : null,
})

const bashrc = String.raw`PS1='\[\e[1;32m\]user@$DEVDECK_DEVBOX_NAME\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]$ '
alias ls='ls --color=auto' grep='grep --color=auto'
`
