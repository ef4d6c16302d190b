import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readOrigin } from '#lib/service/devboxes/origin.ts'
import type { System } from '#lib/service/engine/box.ts'
import { makeSystemBase, setSystemsFolder, systemProblem } from '#lib/service/engine/bubblewrap/system.ts'
import { copyFolders, measure } from '#lib/service/engine/local/disk-tools.ts'
import { ownSystemOf, systemOf as systemOfOrigin } from '#lib/service/engine/local/disks.ts'
import { sizeText } from '#lib/service/kit/amounts.ts'
import { orAborted } from '#lib/service/kit/or-aborted.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import type { Warning } from './outcome.ts'

interface CachedEnvironment {
  name: string
  bytes: number
  usedMs: number
  builtFor: string | null
}

interface Options {
  folder: string
  devboxFolder: string
  /** 0 for no limit. */
  maxBytes: number
  log: (entry: object) => void
}

/** The base system of all trials and cached builds by key. Each trial writes to its own layer above. */
export class Environments {
  readonly #options: Options
  readonly #building = new Map<string, Promise<void>>()
  readonly #builds = new Map<string, { folder: string; end: () => void }>()
  /** Builds that could not be cached; trials don't wait for them. */
  readonly #uncacheable = new Set<string>()
  /** Number of devboxes being created with each. A created devbox is found by its folder. */
  readonly #starting = new Map<string, number>()
  #queue: Promise<void> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
    setSystemsFolder(options.folder)
  }

  recover(): void {
    const { folder, log } = this.#options
    const names = existsSync(folder) ? readdirSync(folder) : []
    for (const name of names.filter((each) => each.startsWith(unfinishedPrefix)))
      removeFolder(join(folder, name)).catch((error: unknown) =>
        log({ level: 'warn', message: `${join(folder, name)} could not be removed`, error: String(error) }),
      )
  }

  /** Waits while another devbox builds the same key. Call `buildEnded` for each devbox created here. */
  async open(
    key: string | undefined,
    signal: AbortSignal,
    create: (system: Omit<System, 'own'> | undefined) => Promise<string>,
  ): Promise<string> {
    if ((await systemProblem()) !== undefined) return create(undefined)
    const base = await makeSystemBase(this.#options.folder)
    if (key === undefined) return create({ base, layers: [] })
    const folder = this.#folderOf(key, base)
    for (let other = this.#building.get(folder); other; other = this.#building.get(folder))
      await orAborted(other, signal)
    if (existsSync(folder))
      return this.#use(folder, async () => {
        const firstUid = Number(await readFile(join(folder, 'first-uid'), 'utf8'))
        return create({ base, layers: [{ folder, firstUid }] })
      })
    if (this.#uncacheable.has(folder)) return create({ base, layers: [] })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#building.set(folder, promise)
    const end = () => {
      this.#building.delete(folder)
      resolve()
    }
    try {
      const devboxId = await create({ base, layers: [] })
      this.#builds.set(devboxId, { folder, end })
      return devboxId
    } catch (error) {
      end()
      throw error
    }
  }

  /** Resumes the trials that wait for this build. After a canceled build, the next trial builds. */
  buildEnded(devboxId: string, { canceled = false } = {}): void {
    const build = this.#builds.get(devboxId)
    if (!build) return
    this.#builds.delete(devboxId)
    if (!canceled && !existsSync(build.folder)) this.#uncacheable.add(build.folder)
    build.end()
  }

  async warningsOf(devboxFolder: string): Promise<Warning[] | undefined> {
    const layer = (await systemOf(devboxFolder))?.layers.at(-1)
    return layer && JSON.parse(await readFile(join(layer.folder, warningsFile), 'utf8'))
  }

  /** Caches the build of a devbox in which no command of the task has run, if there is room. */
  store(
    key: string,
    devboxFolder: string,
    { builtFor, warnings, signal }: { builtFor: string; warnings: readonly Warning[]; signal: AbortSignal },
  ): Promise<void> {
    const stored = this.#queue.then(async () => {
      const system = await systemOf(devboxFolder)
      const folder = system && this.#folderOf(key, system.base)
      if (!folder || existsSync(folder)) return
      const bytes = await bytesOf(join(system.own, 'upper'))
      const title = `The environment built for ${builtFor} (${sizeText(bytes)})`
      const { log, maxBytes } = this.#options
      if (!(await this.#makeRoom(bytes)))
        return log({ level: 'warn', message: `${title} is not cached: the limit is ${sizeText(maxBytes)}` })
      const unfinished = join(this.#options.folder, `${unfinishedPrefix}${randomBytes(6).toString('hex')}`)
      try {
        await mkdir(unfinished, { mode: 0o700 })
        const from = ['upper', 'first-uid'].map((name) => join(system.own, name))
        await copyFolders({ from, to: unfinished, isolation: 'bubblewrap', marks: {}, signal })
        await writeFile(join(unfinished, warningsFile), JSON.stringify(warnings))
        await writeFile(join(unfinished, noteFile), JSON.stringify({ bytes, builtFor }))
        await rename(unfinished, folder)
        log({ level: 'info', message: `${title} is cached` })
      } catch (error) {
        signal.throwIfAborted()
        log({ level: 'warn', message: `${title} could not be cached`, error: String(error) })
      } finally {
        await removeFolder(unfinished)
      }
    })
    this.#queue = stored.catch(() => undefined)
    return stored
  }

  async #use<T>(folder: string, create: () => Promise<T>): Promise<T> {
    const count = (change: number) => this.#starting.set(folder, (this.#starting.get(folder) ?? 0) + change)
    count(1)
    try {
      return await create()
    } finally {
      const now = new Date()
      await utimes(folder, now, now).catch(() => undefined)
      count(-1)
    }
  }

  /** Removes the least recently used environments that no devbox uses until `bytes` fit. */
  async #makeRoom(bytes: number): Promise<boolean> {
    const { folder, devboxFolder, maxBytes, log } = this.#options
    if (maxBytes === 0 || bytes > maxBytes) return maxBytes === 0
    const cached = await cachedEnvironments(folder)
    let total = cached.reduce((sum, each) => sum + each.bytes, 0)
    const startedMs = Date.now()
    const inUse = total + bytes > maxBytes ? await environmentsInUse(devboxFolder) : new Set<string>()
    for (const { name, builtFor, usedMs, ...each } of cached) {
      if (total + bytes <= maxBytes) break
      // `inUse` may miss devboxes created since.
      const path = join(folder, name)
      if (inUse.has(path) || this.#starting.get(path) || usedMs >= startedMs) continue
      // Renamed first, so that no trial finds it half removed.
      const removed = join(folder, `${unfinishedPrefix}${name}`)
      await rename(path, removed)
      total -= each.bytes
      const title = `The environment built for ${builtFor ?? 'a task'} (${sizeText(each.bytes)})`
      const size = `cache size ${sizeText(total)} of ${sizeText(maxBytes)}`
      const lastUsed = new Date(usedMs).toISOString()
      log({ level: 'info', message: `${title} is removed to make room: last used ${lastUsed}; ${size}` })
      await removeFolder(removed)
    }
    return total + bytes <= maxBytes
  }

  #folderOf(key: string, base: string): string {
    const name = createHash('sha256').update(`${key}\n${base}`).digest('hex').slice(0, 32)
    return join(this.#options.folder, `${environmentPrefix}${name}`)
  }
}

export const environmentPrefix = 'environment-'
const unfinishedPrefix = 'new-environment-'
const noteFile = 'kept.json'
const warningsFile = 'warnings.json'

export const clearEnvironments = async (
  folder: string,
  devboxFolder: string,
  isRunning: boolean,
): Promise<{ removed: string[]; bytes: number; used: number }> => {
  const inUse = await environmentsInUse(devboxFolder)
  const names = await readdir(folder).catch(() => [])
  const isUsed = (name: string) => inUse.has(join(folder, name)) || (isRunning && name.startsWith('new-'))
  const removed = names.filter((name) => !isUsed(name))
  let bytes = 0
  for (const name of removed) {
    bytes += await bytesOf(join(folder, name))
    await removeFolder(join(folder, name))
  }
  return { removed, bytes, used: names.length - removed.length }
}

export const cachedEnvironments = async (folder: string): Promise<CachedEnvironment[]> => {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(environmentPrefix))
  const cached: CachedEnvironment[] = []
  for (const name of names) {
    const path = join(folder, name)
    const stats = await stat(path).catch(() => undefined)
    if (!stats) continue
    const note = await readFile(join(path, noteFile), 'utf8').catch(() => undefined)
    const { bytes, builtFor = null } =
      note === undefined ? { bytes: await bytesOf(path) } : (JSON.parse(note) as { bytes: number; builtFor: string })
    cached.push({ name, bytes, builtFor, usedMs: stats.mtimeMs })
  }
  return cached.sort((a, b) => a.usedMs - b.usedMs)
}

const bytesOf = async (path: string): Promise<number> =>
  (await measure([path], { isolation: 'none', marks: {} })).usedBytes

const systemOf = async (devboxFolder: string): Promise<System | undefined> => {
  const { origin } = (await readOrigin(devboxFolder)) ?? {}
  return origin?.kind === 'system' ? { ...origin.system, own: ownSystemOf(devboxFolder) } : undefined
}

export const environmentsInUse = async (devboxesFolder: string): Promise<Set<string>> => {
  const used = new Set<string>()
  for (const name of await readdir(devboxesFolder).catch(() => [])) {
    const { origin } = (await readOrigin(join(devboxesFolder, name))) ?? {}
    const system = origin && systemOfOrigin(origin)
    for (const folder of system ? [system.base, ...system.layers.map((layer) => layer.folder)] : []) used.add(folder)
  }
  return used
}
