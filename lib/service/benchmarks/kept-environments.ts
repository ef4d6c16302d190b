import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { usageOf } from '#lib/service/devboxes/disk.ts'
import { removeFolder, systemsBelow } from '#lib/service/devboxes/mounts.ts'
import { sizeText } from '#lib/service/kit/amounts.ts'

interface Options {
  folder: string
  /** Has one folder for each devbox. */
  devboxFolder: string
  /** 0 for no bound. */
  maxBytes: number
  log: (entry: object) => void
}

export interface KeptEnvironment {
  name: string
  bytes: number
  usedMs: number
  /** The folder of the first task that needed it; null where that has not been noted. */
  builtFor: string | null
}

/**
 * The built environments on the disk, within a bound: those used longest ago make room for another one, but never one
 * that a devbox began with which has not ended.
 */
export class KeptEnvironments {
  readonly #options: Options
  /** How many devboxes are being made with each. Once it has been made, its folder tells what a devbox began with. */
  readonly #beginning = new Map<string, number>()
  /** Undefined until it has been counted. */
  #keptBytes: number | undefined
  /** Of those that are being added. */
  #comingBytes = 0
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
  }

  /** Removes what the last life of the service has not finished. To be called before anything is made. */
  recover(): void {
    const { folder, log } = this.#options
    const names = existsSync(folder) ? readdirSync(folder) : []
    for (const name of names.filter((each) => each.startsWith(unfinishedPrefix)))
      removeFolder(join(folder, name)).catch((error: unknown) =>
        log({ level: 'warn', message: `${join(folder, name)} could not be removed`, error: String(error) }),
      )
  }

  /** Makes a devbox that begins with an environment. */
  async use<T>(name: string, make: () => Promise<T>): Promise<T> {
    this.#beginning.set(name, (this.#beginning.get(name) ?? 0) + 1)
    try {
      return await make()
    } finally {
      const now = new Date()
      await utimes(join(this.#options.folder, name), now, now).catch(() => undefined)
      this.#beginning.set(name, (this.#beginning.get(name) ?? 1) - 1)
    }
  }

  /** Keeps what `fill` puts into a folder, unless there is no room for it. */
  async add(
    { name, bytes, builtFor, signal }: { name: string; bytes: number; builtFor: string; signal: AbortSignal },
    fill: (unfinished: string) => Promise<void>,
  ): Promise<void> {
    const { folder, maxBytes, log } = this.#options
    const told = `The environment built for ${builtFor}, ${sizeText(bytes)},`
    const turn = this.#turn.then(() => this.#makeRoom(bytes))
    this.#turn = turn.catch(() => undefined)
    if (!(await turn)) {
      log({
        level: 'warn',
        message: `${told} is not kept: all may take ${sizeText(maxBytes)}, and those in use stay`,
      })
      return
    }
    const unfinished = join(folder, `${unfinishedPrefix}${randomBytes(6).toString('hex')}`)
    try {
      await mkdir(unfinished, { mode: 0o700 })
      await fill(unfinished)
      await writeFile(join(unfinished, noteFile), JSON.stringify({ bytes, builtFor }))
      // Another trial may have kept the same meanwhile.
      if (existsSync(join(folder, name))) return
      await rename(unfinished, join(folder, name))
      this.#keptBytes = (this.#keptBytes ?? 0) + bytes
      log({ level: 'info', message: `${told} is kept; ${this.#sum()}` })
    } catch (error) {
      signal.throwIfAborted()
      // The trial has what it needs, and goes on.
      log({ level: 'warn', message: `${told} could not be kept`, error: String(error) })
    } finally {
      this.#comingBytes -= bytes
      await removeFolder(unfinished)
    }
  }

  /** Sets `bytes` aside, and says whether they are to be had. */
  async #makeRoom(bytes: number): Promise<boolean> {
    const { folder, devboxFolder, maxBytes } = this.#options
    this.#keptBytes ??= sumOf(await keptEnvironments(folder))
    const lacks = () => maxBytes > 0 && (this.#keptBytes ?? 0) + this.#comingBytes + bytes > maxBytes
    if (lacks() && bytes <= maxBytes) {
      const beganMs = Date.now()
      const inUse = await environmentsInUse(devboxFolder)
      // Others may have been removed by a command.
      const kept = await keptEnvironments(folder)
      this.#keptBytes = sumOf(kept)
      // Of what has begun since, `inUse` need not tell.
      const isFree = ({ name, usedMs }: KeptEnvironment) =>
        !inUse.has(join(folder, name)) && !this.#beginning.get(name) && usedMs < beganMs
      for (const each of kept) if (lacks() && isFree(each)) await this.#remove(each)
    }
    if (lacks()) return false
    this.#comingBytes += bytes
    return true
  }

  async #remove({ name, bytes, builtFor, usedMs }: KeptEnvironment): Promise<void> {
    const { folder, log } = this.#options
    // Under this name no trial finds it, nor does one that is half removed count as built.
    const gone = join(folder, `${unfinishedPrefix}${name}`)
    await rename(join(folder, name), gone)
    this.#keptBytes = (this.#keptBytes ?? 0) - bytes
    const what = `The environment built for ${builtFor ?? 'a task'}, ${sizeText(bytes)}`
    const when = new Date(usedMs).toISOString()
    log({ level: 'info', message: `${what}, is removed to make room: last used ${when}; ${this.#sum()}` })
    await removeFolder(gone)
  }

  #sum(): string {
    const { maxBytes } = this.#options
    const most = maxBytes === 0 ? '' : ` of at most ${sizeText(maxBytes)}`
    return `all that are kept take ${sizeText(this.#keptBytes ?? 0)}${most}`
  }
}

/** All that are kept, those used longest ago first. */
export const keptEnvironments = async (folder: string): Promise<KeptEnvironment[]> => {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(environmentPrefix))
  const kept: KeptEnvironment[] = []
  for (const name of names) {
    const path = join(folder, name)
    const stats = await stat(path).catch(() => undefined)
    if (!stats) continue
    const note = await readFile(join(path, noteFile), 'utf8').catch(() => undefined)
    const { bytes, builtFor = null } =
      note === undefined ? { bytes: await bytesOf(path) } : (JSON.parse(note) as { bytes: number; builtFor: string })
    kept.push({ name, bytes, builtFor, usedMs: stats.mtimeMs })
  }
  return kept.sort((a, b) => a.usedMs - b.usedMs)
}

/** What it takes on the disk. */
export const bytesOf = (path: string): Promise<number> => usageOf([path], { isolation: 'none', marks: {} })

/** The folders that the systems of devboxes begin with. */
export const environmentsInUse = async (devboxFolder: string): Promise<Set<string>> => {
  const systems = await systemsBelow(devboxFolder)
  return new Set(systems.flatMap(({ base, layers }) => [base, ...layers.map(({ folder }) => folder)]))
}

export const environmentPrefix = 'environment-'
const unfinishedPrefix = 'new-environment-'
const noteFile = 'kept.json'

const sumOf = (kept: readonly KeptEnvironment[]) => kept.reduce((sum, { bytes }) => sum + bytes, 0)
