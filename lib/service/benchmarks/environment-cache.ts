import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { measure, removeFolder } from '#lib/service/devboxes/disk.ts'
import { systemsBelow } from '#lib/service/devboxes/mounts.ts'
import { sizeText } from '#lib/service/kit/amounts.ts'

interface Options {
  folder: string
  devboxFolder: string
  /** 0 for no limit. */
  maxBytes: number
  log: (entry: object) => void
}

interface CachedEnvironment {
  name: string
  bytes: number
  usedMs: number
  builtFor: string | null
}

/** Built environments on disk, up to a limit. Evicts the least recently used first, never one that a devbox uses. */
export class EnvironmentCache {
  readonly #options: Options
  /** Number of devboxes being created with each. A created devbox is found by its folder. */
  readonly #starting = new Map<string, number>()
  #cachedBytes: number | undefined
  #reservedBytes = 0
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
  }

  recover(): void {
    const { folder, log } = this.#options
    const names = existsSync(folder) ? readdirSync(folder) : []
    for (const name of names.filter((each) => each.startsWith(unfinishedPrefix)))
      removeFolder(join(folder, name)).catch((error: unknown) =>
        log({ level: 'warn', message: `${join(folder, name)} could not be removed`, error: String(error) }),
      )
  }

  async use<T>(name: string, create: () => Promise<T>): Promise<T> {
    this.#starting.set(name, (this.#starting.get(name) ?? 0) + 1)
    try {
      return await create()
    } finally {
      const now = new Date()
      await utimes(join(this.#options.folder, name), now, now).catch(() => undefined)
      this.#starting.set(name, (this.#starting.get(name) ?? 1) - 1)
    }
  }

  async add(
    { name, bytes, builtFor, signal }: { name: string; bytes: number; builtFor: string; signal: AbortSignal },
    fill: (unfinished: string) => Promise<void>,
  ): Promise<void> {
    const { folder, maxBytes, log } = this.#options
    const title = `The environment built for ${builtFor} (${sizeText(bytes)})`
    const hasRoom = this.#queue.then(() => this.#makeRoom(bytes))
    this.#queue = hasRoom.catch(() => undefined)
    if (!(await hasRoom)) {
      log({ level: 'warn', message: `${title} is not cached: the limit is ${sizeText(maxBytes)}` })
      return
    }
    const unfinished = join(folder, `${unfinishedPrefix}${randomBytes(6).toString('hex')}`)
    try {
      await mkdir(unfinished, { mode: 0o700 })
      await fill(unfinished)
      await writeFile(join(unfinished, noteFile), JSON.stringify({ bytes, builtFor }))
      // Another trial may have stored the same one.
      if (existsSync(join(folder, name))) return
      await rename(unfinished, join(folder, name))
      this.#cachedBytes = (this.#cachedBytes ?? 0) + bytes
      log({ level: 'info', message: `${title} is cached; ${this.#totals()}` })
    } catch (error) {
      signal.throwIfAborted()
      log({ level: 'warn', message: `${title} could not be cached`, error: String(error) })
    } finally {
      this.#reservedBytes -= bytes
      await removeFolder(unfinished)
    }
  }

  async #makeRoom(bytes: number): Promise<boolean> {
    const { folder, devboxFolder, maxBytes } = this.#options
    this.#cachedBytes ??= sumOf(await cachedEnvironments(folder))
    const isOver = () => maxBytes > 0 && (this.#cachedBytes ?? 0) + this.#reservedBytes + bytes > maxBytes
    if (isOver() && bytes <= maxBytes) {
      const startedMs = Date.now()
      const inUse = await environmentsInUse(devboxFolder)
      // A command may have removed some.
      const cached = await cachedEnvironments(folder)
      this.#cachedBytes = sumOf(cached)
      // `inUse` may miss devboxes created since.
      const isFree = ({ name, usedMs }: CachedEnvironment) =>
        !inUse.has(join(folder, name)) && !this.#starting.get(name) && usedMs < startedMs
      for (const each of cached) if (isOver() && isFree(each)) await this.#remove(each)
    }
    if (isOver()) return false
    this.#reservedBytes += bytes
    return true
  }

  async #remove({ name, bytes, builtFor, usedMs }: CachedEnvironment): Promise<void> {
    const { folder, log } = this.#options
    // Renamed first, so that no trial finds it half removed.
    const removed = join(folder, `${unfinishedPrefix}${name}`)
    await rename(join(folder, name), removed)
    this.#cachedBytes = (this.#cachedBytes ?? 0) - bytes
    const title = `The environment built for ${builtFor ?? 'a task'} (${sizeText(bytes)})`
    const lastUsed = new Date(usedMs).toISOString()
    log({ level: 'info', message: `${title} is removed to make room: last used ${lastUsed}; ${this.#totals()}` })
    await removeFolder(removed)
  }

  #totals(): string {
    const { maxBytes } = this.#options
    const limit = maxBytes === 0 ? '' : ` of ${sizeText(maxBytes)}`
    return `cache size ${sizeText(this.#cachedBytes ?? 0)}${limit}`
  }
}

/** Least recently used first. */
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

export const bytesOf = async (path: string): Promise<number> =>
  (await measure([path], { isolation: 'none', marks: {} })).usedBytes

export const environmentsInUse = async (devboxFolder: string): Promise<Set<string>> => {
  const systems = await systemsBelow(devboxFolder)
  return new Set(systems.flatMap(({ base, layers }) => [base, ...layers.map(({ folder }) => folder)]))
}

export const environmentPrefix = 'environment-'
const unfinishedPrefix = 'new-environment-'
const noteFile = 'kept.json'

const sumOf = (cached: readonly CachedEnvironment[]) => cached.reduce((sum, { bytes }) => sum + bytes, 0)
