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

/**
 * What the environments of tasks are made of, for all trials of the service: the base of their systems, and what builds
 * left, by the checksum of all that went into them. Trials share both and change neither: each has a layer of its own above.
 */
export class Environments {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    keepSystemsBelow(folder)
  }

  /** What the system of a trial begins with, built already where `key` is known; undefined where trials have none. */
  async begin(key: string | undefined): Promise<Omit<System, 'own'> | undefined> {
    if ((await systemProblem()) !== undefined) return undefined
    const base = await makeSystemBase(this.#folder)
    const folder = key === undefined ? undefined : this.#folderOf(key, base)
    if (folder === undefined || !existsSync(folder)) return { base, layers: [] }
    return { base, layers: [{ folder, firstUid: Number(await readFile(join(folder, 'first-uid'), 'utf8')) }] }
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

/** Removes what no devbox below `devboxFolder` began with. Resolves to the names, and how many are in use. */
export const clearEnvironments = async (
  folder: string,
  devboxFolder: string,
): Promise<{ removed: string[]; used: number }> => {
  const devboxes = await readdir(devboxFolder).catch(() => [])
  const inUse = new Set(
    devboxes.flatMap((id) => {
      const system = systemOf(join(devboxFolder, id))
      return system ? [system.base, ...system.layers.map((layer) => layer.folder)] : []
    }),
  )
  const names = await readdir(folder).catch(() => [])
  const removed = names.filter((name) => !inUse.has(join(folder, name)))
  for (const name of removed) await rm(join(folder, name), { recursive: true, force: true })
  return { removed, used: names.length - removed.length }
}
