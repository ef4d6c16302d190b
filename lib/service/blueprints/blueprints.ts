import { join } from 'node:path'
import { type Blueprint, type BlueprintCreate, type BlueprintLogRecord, isBuilding } from '#lib/contract/blueprints.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import { checkedSecrets, checkLaunchParameters } from '#lib/service/devboxes/new-devbox.ts'
import { userOf } from '#lib/service/domain/launch-parameters.ts'
import type { BoxEngine, Images, Network } from '#lib/service/engine/box.ts'
import { invalid, isDiskFull, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import { callKey, Replays } from '#lib/service/kit/replays.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import { untilStored } from '#lib/service/kit/until-stored.ts'
import type { Objects } from '#lib/service/objects/objects.ts'
import type { BlueprintRecord, BlueprintStore, Failure } from '#lib/service/store/blueprints.ts'
import { DevboxLogs } from '#lib/service/store/logs/logs.ts'
import { namesIn } from '#lib/service/store/lost-and-found.ts'
import type { SecretStore } from '#lib/service/store/secrets.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { BlueprintError } from './blueprint-error.ts'
import { makeContext } from './build-context.ts'
import { buildFilesOf, hasFrom, mountPath, tagOf } from './dockerfile.ts'
import { buildOnHost, builtOnHost, type HostBlueprint, replaceableImage } from './host-build.ts'
import { buildImage } from './image-build.ts'

const concurrentBuilds = 2
/** Unspecified: builds of an account that have not ended. */
const maxUnfinished = 50
/** Unspecified: the longest build. */
const maxBuildMs = 2 * 60 * 60 * 1000

interface Options {
  store: BlueprintStore
  secrets: SecretStore
  objects: Pick<Objects, 'requireComplete' | 'pathOf'>
  folder: string
  systemsFolder: string
  /** Builds without a container engine, and those that need no image. */
  engine: BoxEngine
  images: Images | undefined
  /** Stands for this host's system if devboxes without a blueprint run in containers. */
  plainImage: string | undefined
  serviceId: string
  dataDir: string
  privateNetwork: boolean
  quota: StorageQuota
  networkOf: (account: string, networkPolicyId: string) => Network
}

interface Running {
  account: string
  abort: AbortController
  done: Promise<void>
}

export class Blueprints {
  readonly #options: Options
  readonly #logs: DevboxLogs
  readonly #running = new Map<string, Running>()
  readonly #slots = new Slots(concurrentBuilds)
  readonly #replays = new Replays<string>()
  readonly #closing = new AbortController()

  constructor(options: Options) {
    this.#options = options
    this.#logs = new DevboxLogs((id) => this.#folderOf(id))
  }

  /** Call once leftover processes are dead, before devboxes start. */
  recover(): void {
    const { store, folder } = this.#options
    for (const id of store.unfinished()) {
      store.fail(id, interrupted, Date.now())
      void this.#discard(id)
      void this.#removeImage(id)
    }
    for (const id of store.deletedWithImage()) void this.#removeImage(id)
    const isLeftOver = (id: string) => store.find(id)?.state === 'deleted'
    for (const id of namesIn(folder).filter(isLeftOver)) void this.#remove(id)
  }

  async close(): Promise<void> {
    this.#closing.abort(new BlueprintError(interrupted.message))
    await Promise.all([...this.#running.values()].map(({ done }) => done))
    await this.#logs.flush()
  }

  /** Repeating `requestId` returns the first blueprint, since public clients retry slow requests. */
  async create(account: string, body: BlueprintCreate, requestId: string): Promise<Blueprint> {
    const make = async () => this.#create(account, body)
    const id = await this.#replays.once(callKey(account, requestId, 'blueprint', body), make)
    return this.get(account, id)
  }

  #create(account: string, body: BlueprintCreate): string {
    const { store, quota } = this.#options
    const base = this.#check(account, body)
    quota.require(account)
    if (store.unfinished().filter((id) => store.mustFind(id).account === account).length >= maxUnfinished)
      throw new ServiceError(
        'rate_limited',
        `At most ${maxUnfinished} builds can be queued; try again when some have finished`,
        {
          retryAfterSeconds: 30,
        },
      )
    const id = newId('bpt')
    const { metadata, ...parameters } = body
    store.insert({
      id,
      account,
      name: body.name,
      create_time_ms: Date.now(),
      parameters,
      metadata: metadata ?? {},
      base_blueprint_id: base?.id ?? null,
    })
    const abort = new AbortController()
    const done = this.#build(id, abort.signal).finally(() => this.#running.delete(id))
    this.#running.set(id, { account, abort, done })
    return id
  }

  inProgress(): { account: string; id: string; name: string }[] {
    const nameOf = (id: string) => this.#options.store.mustFind(id).name
    return [...this.#running].map(([id, { account }]) => ({ account, id, name: nameOf(id) }))
  }

  preview(account: string, body: BlueprintCreate): string {
    return this.#filesOf(body, this.#check(account, body)).dockerfile
  }

  get(account: string, id: string): Blueprint {
    return this.#options.store.get(account, id) ?? notFound('blueprint', id)
  }

  async logs(account: string, id: string): Promise<BlueprintLogRecord[]> {
    this.get(account, id)
    return (await this.#logs.list(id, {})).flatMap(toBuildLog)
  }

  async *followLogs(account: string, id: string, signal: AbortSignal): AsyncGenerator<BlueprintLogRecord> {
    this.get(account, id)
    const { store } = this.#options
    const hasEnded = () => !isBuilding(store.mustFind(id).status) || store.mustFind(id).state === 'deleted'
    for await (const record of this.#logs.follow(id, {}, signal, hasEnded)) yield* toBuildLog(record)
  }

  /** Cancels a running build. Throws 404, or 400 if something needs the blueprint. Repeatable. */
  async delete(account: string, id: string): Promise<void> {
    const { store, quota } = this.#options
    const blueprint = store.own(account, id) ?? notFound('blueprint', id)
    if (blueprint.state === 'deleted') return
    const dependent = store.dependent(id)
    if (dependent !== undefined)
      throw new ServiceError('invalid_argument', dependentText(dependent), { shouldRetry: false })
    store.delete(id)
    if (blueprint.image === null) quota.add(account, 'blueprints', -(blueprint.size_bytes ?? 0))
    const running = this.#running.get(id)
    running?.abort.abort(new BlueprintError('The blueprint was deleted'))
    await running?.done
    this.#logs.wake(id)
    await this.#logs.flush()
    await this.#remove(id)
    if (blueprint.image !== null) await this.#removeImage(id)
  }

  forDevbox(account: string, { blueprint_id, blueprint_name }: DevboxCreate): BlueprintRecord | undefined {
    if (blueprint_id) return this.#built(account, blueprint_id, 'blueprint_id')
    return blueprint_name ? this.#latest(account, blueprint_name, 'blueprint_name') : undefined
  }

  /** Also works for deleted blueprints. */
  imageOf(id: string): string | null {
    return this.#options.store.find(id)?.image ?? null
  }

  /** Also works for deleted blueprints. */
  metadataOf(id: string): Record<string, string> {
    return this.#options.store.find(id)?.metadata ?? {}
  }

  onHost(id: string): Promise<HostBlueprint> {
    return builtOnHost(id, this.#options)
  }

  #folderOf(id: string): string {
    return join(this.#options.folder, id)
  }

  /** Removes all but the log of a failed build. */
  async #discard(id: string): Promise<void> {
    const folder = this.#folderOf(id)
    for (const name of namesIn(folder))
      if (name !== 'log')
        await removeFolder(join(folder, name)).catch(logFailure(`Could not delete leftovers of blueprint ${id}`))
  }

  async #removeImage(id: string): Promise<void> {
    const { store, images } = this.#options
    try {
      await images?.remove(tagOf(id))
      if (images) store.forgetImage(id)
    } catch (error) {
      logFailure(`Could not delete the image of blueprint ${id}; retrying at the next start`)(error)
    }
  }

  async #remove(id: string): Promise<void> {
    await removeFolder(this.#folderOf(id)).catch(
      logFailure(`Could not delete the files of blueprint ${id}; retrying at the next start`),
    )
  }

  #built(account: string, id: string, field: string): BlueprintRecord {
    const blueprint = this.#options.store.own(account, id)
    if (!blueprint || blueprint.state === 'deleted') return notFound('blueprint', id)
    if (blueprint.status === 'build_complete') return blueprint
    const problem = blueprint.status === 'failed' ? 'failed to build' : `is ${blueprint.status}`
    throw new ServiceError('invalid_argument', `${field}: blueprint ${id} ${problem}`, { field, shouldRetry: false })
  }

  #latest(account: string, name: string, field: string): BlueprintRecord {
    const found = this.#options.store.latest(account, name)
    if (found) return found
    throw new ServiceError('not_found', `${field}: no complete build of a blueprint named ${name}`, { field })
  }

  /** Returns the base blueprint. */
  #check(account: string, body: BlueprintCreate): BlueprintRecord | undefined {
    const { secrets, engine, images, networkOf } = this.#options
    if (engine.isolation === 'none' && !images)
      throw new ServiceError('not_implemented', 'Blueprints need bubblewrap or a container engine on this host', {
        shouldRetry: false,
      })
    const { base_blueprint_id: baseId, base_blueprint_name: baseName } = body
    if (baseId && baseName)
      throw invalid({ field: 'base_blueprint_name', message: "can't be combined with base_blueprint_id" })
    const base = baseId
      ? this.#built(account, baseId, 'base_blueprint_id')
      : baseName
        ? this.#latest(account, baseName, 'base_blueprint_name')
        : undefined
    if (base && hasFrom(body.dockerfile ?? ''))
      throw invalid({ field: 'dockerfile', message: "can't have FROM: it continues from the base blueprint" })
    if (body.services?.length) throw unsupported('services', 'is not supported by this service')
    this.#archiveOf(account, body)
    const withToken = body.code_mounts?.findIndex(({ token }) => token) ?? -1
    if (withToken !== -1)
      throw unsupported(
        `code_mounts[${withToken}].token`,
        'is not supported by this service; clone the repository with a setup command and one of "secrets"',
      )
    for (const path of Object.keys(body.file_mounts ?? {}))
      if (path === '' || path.endsWith('/') || path.includes('\0') || mountPath(path) === '/')
        throw invalid({ field: 'file_mounts', message: `${JSON.stringify(path)} must be the path of a file` })
    for (const [i, command] of (body.system_setup_commands ?? []).entries())
      if (command.includes('\0'))
        throw invalid({ field: `system_setup_commands[${i}]`, message: 'must not contain a NUL character' })
    if (body.launch_parameters) checkLaunchParameters(body.launch_parameters)
    checkedSecrets(body.secrets ?? {})
    const missing = secrets.missing(account, [...new Set(Object.values(body.secrets ?? {}))])
    if (missing.length > 0) throw invalid({ field: 'secrets', message: `secret ${missing.join(', ')} not found` })
    const network = body.network_policy_id ? networkOf(account, body.network_policy_id) : 'public'
    if (this.#usesEngine(body, base)) {
      if (!images)
        throw new ServiceError('unavailable', `Blueprint ${base?.id} needs the container engine`, {
          retryAfterSeconds: 30,
        })
      const where = 'is not supported for images that the container engine builds'
      if (network !== 'public') throw unsupported('network_policy_id', where)
      if (Object.keys(body.secrets ?? {}).length > 0) throw unsupported('secrets', where)
    } else if (userOf(body.launch_parameters ?? {}))
      throw unsupported('launch_parameters.user_parameters', 'must be user with uid 1000 without a container engine')
    return base
  }

  async #build(id: string, given: AbortSignal): Promise<void> {
    const { store, quota } = this.#options
    const closing = this.#closing.signal
    const stop = AbortSignal.any([given, closing])
    const settle = (store: () => void) => untilStored(store, `Could not store the result of blueprint ${id}`, stop)
    try {
      const built = await this.#slots.run(stop, async () => {
        store.begin(id)
        return this.#run(id, AbortSignal.any([stop, AbortSignal.timeout(maxBuildMs)]))
      })
      if (built.image === null) quota.add(store.mustFind(id).account, 'blueprints', built.sizeBytes)
      await settle(() => store.complete(id, built, Date.now()))
    } catch (error) {
      const failure = failureOf(stop.aborted ? stop.reason : error)
      if (!(error instanceof BlueprintError) && !stop.aborted) logFailure(`Blueprint ${id} failed`)(error)
      this.#logs.append(id, { level: 'error', source: 'setup_commands', message: failure.message })
      await this.#discard(id)
      if (closing.aborted) store.fail(id, failure, Date.now())
      else if (!given.aborted) await settle(() => store.fail(id, failure, Date.now()))
    }
    this.#logs.wake(id)
  }

  async #run(id: string, signal: AbortSignal): Promise<{ image: string | null; sizeBytes: number }> {
    const { store, secrets, networkOf, images, quota, engine, serviceId } = this.#options
    const { account, parameters, base_blueprint_id: baseId } = store.mustFind(id)
    const base = baseId === null ? undefined : store.mustFind(baseId)
    const files = this.#filesOf(parameters, base)
    const log = (level: 'info' | 'warn', message: string) =>
      this.#logs.append(id, { level, source: 'setup_commands', message })
    const context = join(this.#folderOf(id), 'context')
    const common = { id, context, dockerfile: files.dockerfile, buildArgs: parameters.build_args ?? {}, signal }
    await makeContext(context, {
      files,
      archive: this.#archiveOf(account, parameters),
      maxBytes: Math.min(quota.available(account), resourcesOf(parameters.launch_parameters ?? {}).diskGb * 2 ** 30),
      isolation: engine.isolation === 'none' ? 'none' : 'bubblewrap',
      serviceId,
    })
    try {
      if (images && this.#usesEngine(parameters, base)) {
        const plain = base || engine.isolation === 'none' ? undefined : await replaceableImage(common)
        if (plain === undefined || (await images.inspect(plain, signal)))
          return await buildImage(images, { ...common, serviceId, output: (line) => log('info', line) })
        log('warn', `The container engine can't get ${plain}; building over this host's system instead`)
      }
      const build = {
        ...common,
        baseId,
        isPlain: !hasFrom(parameters.dockerfile ?? ''),
        env: secrets.reveal(account, parameters.secrets ?? {}),
        launchParameters: parameters.launch_parameters ?? {},
        network: parameters.network_policy_id ? networkOf(account, parameters.network_policy_id) : ('public' as const),
        log,
        logStep: (cmd: string) => this.#logs.command(id, { source: 'setup_commands', cmd }),
      }
      return { image: null, sizeBytes: await buildOnHost(build, this.#options) }
    } finally {
      await removeFolder(context)
    }
  }

  #filesOf(parameters: BlueprintCreate, base: BlueprintRecord | undefined) {
    return buildFilesOf(parameters, base ? tagOf(base.id) : this.#options.plainImage)
  }

  #archiveOf(account: string, { build_context: context }: BlueprintCreate) {
    if (!context) return undefined
    const { objects } = this.#options
    const field = 'build_context.object_id'
    const { content_type } = objects.requireComplete(account, context.object_id, field)
    if (content_type !== 'tar' && content_type !== 'tgz')
      throw invalid({ field, message: `object ${context.object_id} is ${content_type}; it must be tar or tgz` })
    return { file: objects.pathOf(context.object_id), isCompressed: content_type === 'tgz' }
  }

  /** A Dockerfile's image needs the container engine, if there is one. This host's system needs none. */
  #usesEngine({ dockerfile }: BlueprintCreate, base: BlueprintRecord | undefined): boolean {
    const { images, plainImage } = this.#options
    if (base) return base.image !== null
    return images !== undefined && (hasFrom(dockerfile ?? '') || plainImage !== undefined)
  }
}

const interrupted: Failure = { reason: 'build_failed', message: 'The service stopped during the build' }

const failureOf = (error: unknown): Failure => {
  if (error instanceof BlueprintError) return { reason: error.reason, message: error.message }
  if (isDiskFull(error)) return { reason: 'out_of_disk', message: "The service's disk is full" }
  return { reason: 'build_failed', message: error instanceof Error ? error.message : String(error) }
}

const toBuildLog = ({ timestamp_ms, level, cmd, exit_code, message }: LogRecord): BlueprintLogRecord[] => {
  const text = message ?? cmd ?? (exit_code ? `Exit code ${exit_code}` : undefined)
  return text === undefined ? [] : [{ timestamp_ms, level: exit_code ? 'error' : level, message: text }]
}

const dependentText = (id: string): string => {
  if (id.startsWith('dbx')) return `Devbox ${id} uses the blueprint. Shut it down first`
  if (id.startsWith('snp')) return `Snapshot ${id} needs the blueprint. Delete it first`
  return `Blueprint ${id} is based on this one. Delete it first`
}

const unsupported = (field: string, problem: string) =>
  new ServiceError('not_implemented', `${field} ${problem}`, { field, shouldRetry: false })
