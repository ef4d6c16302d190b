import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { copyFolders } from '#lib/service/devboxes/disk.ts'
import { removeFolder, systemOf } from '#lib/service/devboxes/mounts.ts'
import { keepSystemsBelow, makeSystemBase, systemProblem } from '#lib/service/engine/bubblewrap/system.ts'
import type { System } from '#lib/service/engine/engine.ts'
import { bytesOf, environmentPrefix, environmentsInUse, KeptEnvironments } from './kept-environments.ts'
import type { Warning } from './outcome.ts'

interface Build {
  folder: string
  end: () => void
}

/**
 * What the environments of tasks are made of: the base of their systems, for all trials of the service, and what builds
 * left, by the checksum of all that went into them. Trials share both and change neither: each has a layer of its own above.
 */
export class Environments {
  readonly #folder: string
  /** What is being built now, by its folder: trials that need the same wait for it. */
  readonly #building = new Map<string, Promise<void>>()
  /** Of the devboxes that build. */
  readonly #builds = new Map<string, Build>()
  /** What could not be kept when it was built: nobody waits for that again. */
  readonly #unkept = new Set<string>()
  readonly #kept: KeptEnvironments

  constructor(options: ConstructorParameters<typeof KeptEnvironments>[0]) {
    this.#folder = options.folder
    this.#kept = new KeptEnvironments(options)
    keepSystemsBelow(options.folder)
  }

  /** To be called before any environment is opened. */
  recover(): void {
    this.#kept.recover()
  }

  /**
   * Makes a devbox with what its system begins with, built already where `key` is known; without a system where trials
   * have none. Whoever needs what another devbox builds waits until that has been kept, or cannot be. `built` is to be
   * called of every devbox made here.
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
      return this.#kept.use(basename(folder), async () => {
        const firstUid = Number(await readFile(join(folder, 'first-uid'), 'utf8'))
        return create({ base, layers: [{ folder, firstUid }] })
      })
    if (this.#unkept.has(folder)) return create({ base, layers: [] })
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

  /** Lets those go on who wait for what a devbox builds. A build that was broken off tells nothing of the next one. */
  built(devboxId: string, isBrokenOff: boolean): void {
    const build = this.#builds.get(devboxId)
    if (!build) return
    this.#builds.delete(devboxId)
    if (!isBrokenOff && !existsSync(build.folder)) this.#unkept.add(build.folder)
    build.end()
  }

  /** What was told of the build that a devbox began with; undefined where it has yet to be built. */
  async warningsOf(devboxFolder: string): Promise<Warning[] | undefined> {
    const layer = systemOf(devboxFolder)?.layers.at(-1)
    return layer && JSON.parse(await readFile(join(layer.folder, warningsFile), 'utf8'))
  }

  /** Keeps what has been built in a devbox, in which nothing of the task's may have run since, where there is room for it. */
  async keep(
    key: string,
    devboxFolder: string,
    { builtFor, warnings, signal }: { builtFor: string; warnings: readonly Warning[]; signal: AbortSignal },
  ): Promise<void> {
    const system = systemOf(devboxFolder)
    if (!system) return
    const folder = this.#folderOf(key, system.base)
    if (existsSync(folder)) return
    const bytes = await bytesOf(join(system.own, 'upper'))
    await this.#kept.add({ name: basename(folder), bytes, builtFor, signal }, async (unfinished) => {
      const from = ['upper', 'first-uid'].map((name) => join(system.own, name))
      // A command of the build may still be running there.
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

/**
 * Removes what no devbox below `devboxFolder` began with, nor a service that runs is just making. Resolves to the names,
 * what they took on the disk, and how many are in use.
 */
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
