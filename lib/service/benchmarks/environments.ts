import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { systemOf } from '#lib/service/devboxes/mounts.ts'
import type { System } from '#lib/service/sandbox/sandbox.ts'
import { keepSystemsBelow, makeSystemBase, systemProblem } from '#lib/service/sandbox/system.ts'
import type { Warning } from './outcome.ts'

interface Build {
  folder: string
  end: () => void
}

/**
 * What the environments of tasks are made of, for all trials of the service: the base of their systems, and what builds
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

  constructor(folder: string) {
    this.#folder = folder
    keepSystemsBelow(folder)
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
    if (existsSync(folder)) {
      const firstUid = Number(await readFile(join(folder, 'first-uid'), 'utf8'))
      return create({ base, layers: [{ folder, firstUid }] })
    }
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

  /** Keeps what has been built in a devbox, in which nothing of the task's may have run since. */
  async keep(key: string, devboxFolder: string, warnings: readonly Warning[], signal: AbortSignal): Promise<void> {
    const system = systemOf(devboxFolder)
    if (!system) return
    const folder = this.#folderOf(key, system.base)
    // Its home is no part of its system, and what a build left there would be missing.
    const homeFiles = await readdir(join(devboxFolder, 'home'))
    if (existsSync(folder) || homeFiles.some((name) => name !== '.bashrc')) return
    const unfinished = await mkdtemp(join(this.#folder, 'new-environment-'))
    try {
      const from = ['upper', 'first-uid'].map((name) => join(system.own, name))
      await promisify(execFile)('/bin/cp', ['-a', '--reflink=auto', '--', ...from, unfinished], { signal })
      await writeFile(join(unfinished, warningsFile), JSON.stringify(warnings))
      // Another trial may have kept the same meanwhile.
      await rename(unfinished, folder).catch(() => undefined)
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
  }

  #folderOf(key: string, base: string): string {
    const name = createHash('sha256').update(`${key}\n${base}`).digest('hex').slice(0, 32)
    return join(this.#folder, `environment-${name}`)
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
 * and how many are in use.
 */
export const clearEnvironments = async (
  folder: string,
  devboxFolder: string,
  isRunning: boolean,
): Promise<{ removed: string[]; used: number }> => {
  const devboxes = await readdir(devboxFolder).catch(() => [])
  const inUse = new Set(
    devboxes.flatMap((id) => {
      const system = systemOf(join(devboxFolder, id))
      return system ? [system.base, ...system.layers.map((layer) => layer.folder)] : []
    }),
  )
  const names = await readdir(folder).catch(() => [])
  const isUsed = (name: string) => inUse.has(join(folder, name)) || (isRunning && name.startsWith('new-'))
  const removed = names.filter((name) => !isUsed(name))
  for (const name of removed) await rm(join(folder, name), { recursive: true, force: true })
  return { removed, used: names.length - removed.length }
}
