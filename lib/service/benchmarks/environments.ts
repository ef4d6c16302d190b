import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { copyFolders, removeFolder } from '#lib/service/devboxes/disk.ts'
import { systemOf } from '#lib/service/devboxes/mounts.ts'
import { makeSystemBase, setSystemsFolder, systemProblem } from '#lib/service/engine/bubblewrap/system.ts'
import type { System } from '#lib/service/engine/engine.ts'
import { bytesOf, EnvironmentCache, environmentPrefix, environmentsInUse } from './environment-cache.ts'
import type { Warning } from './outcome.ts'

interface Build {
  folder: string
  end: () => void
}

/**
 * The base system of all trials, and the cached builds by their key. Trials share both and change neither: each writes to
 * its own layer above.
 */
export class Environments {
  readonly #folder: string
  readonly #building = new Map<string, Promise<void>>()
  readonly #builds = new Map<string, Build>()
  /** Folders of builds that could not be cached: trials do not wait for those. */
  readonly #uncacheable = new Set<string>()
  readonly #cache: EnvironmentCache

  constructor(options: ConstructorParameters<typeof EnvironmentCache>[0]) {
    this.#folder = options.folder
    this.#cache = new EnvironmentCache(options)
    setSystemsFolder(options.folder)
  }

  recover(): void {
    this.#cache.recover()
  }

  /**
   * Creates a devbox with its own system if the machine supports that, built already if `key` is cached. Waits while another
   * devbox builds the same key. Call `buildEnded` for each devbox created here.
   */
  async open(
    key: string | undefined,
    signal: AbortSignal,
    create: (system: Omit<System, 'own'> | undefined) => Promise<string>,
  ): Promise<string> {
    if ((await systemProblem()) !== undefined) return create(undefined)
    const base = await makeSystemBase(this.#folder)
    if (key === undefined) return create({ base, layers: [] })
    const folder = this.#folderOf(key, base)
    for (let other = this.#building.get(folder); other; other = this.#building.get(folder))
      await orAborted(other, signal)
    if (existsSync(folder))
      return this.#cache.use(basename(folder), async () => {
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
    const layer = systemOf(devboxFolder)?.layers.at(-1)
    return layer && JSON.parse(await readFile(join(layer.folder, warningsFile), 'utf8'))
  }

  /** Caches the build of a devbox in which no command of the task has run, if there is room. */
  async store(
    key: string,
    devboxFolder: string,
    { builtFor, warnings, signal }: { builtFor: string; warnings: readonly Warning[]; signal: AbortSignal },
  ): Promise<void> {
    const system = systemOf(devboxFolder)
    if (!system) return
    const folder = this.#folderOf(key, system.base)
    if (existsSync(folder)) return
    const bytes = await bytesOf(join(system.own, 'upper'))
    await this.#cache.add({ name: basename(folder), bytes, builtFor, signal }, async (unfinished) => {
      const from = ['upper', 'first-uid'].map((name) => join(system.own, name))
      await copyFolders({ from, to: unfinished, isolation: 'bubblewrap', marks: {}, signal })
      await writeFile(join(unfinished, warningsFile), JSON.stringify(warnings))
    })
  }

  #folderOf(key: string, base: string): string {
    const name = createHash('sha256').update(`${key}\n${base}`).digest('hex').slice(0, 32)
    return join(this.#folder, `${environmentPrefix}${name}`)
  }
}

const warningsFile = 'warnings.json'

const orAborted = async (work: Promise<void>, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

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
