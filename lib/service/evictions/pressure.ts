import { statfs } from 'node:fs/promises'
import { freemem, totalmem } from 'node:os'
import { logError, logFailure } from '#lib/service/kit/log.ts'
import type { Evictions } from './evictions.ts'

const intervalMs = 1_000
const defaultFloorBytes = 256 * 2 ** 20
const defaultFloorShare = 0.05
/** Pressure ends only this far above the floor, so that it does not start and end with every page of memory. */
const relief = 1.1

/** When the machine itself runs short, the devbox used longest ago is evicted. */
export interface Pressure {
  /** Free bytes below which devboxes are evicted; 0 never, absent: 256 MiB, or 5 % where that is less. */
  minFreeMemoryBytes?: number
  minFreeDiskBytes?: number
  /** From the announcement of such an eviction to its deadline. */
  noticeMs: number
}

/** Unspecified: the notice. Long enough to save a file, short enough for a machine that runs out of memory. */
export const defaultPressure: Pressure = { noticeMs: 60_000 }

interface Options {
  pressure: Pressure
  dataDir: string
  evictions: Pick<Evictions, 'schedule' | 'deadlineOf'>
  /** Running devboxes of all accounts, the one used longest ago first. */
  leastRecentlyUsed: () => readonly { id: string; account: string }[]
  statusOf: (devboxId: string) => string
}

interface Resource {
  name: 'memory' | 'disk'
  floorBytes: number
  freeBytes: () => number | Promise<number>
  isShort: boolean
}

/** Evicts the devbox used longest ago while the machine has less free memory or disk than it needs, one at a time. */
export class PressureWatch {
  readonly #options: Options
  readonly #resources: Resource[]
  readonly #timer: NodeJS.Timeout
  /** The devbox whose end is being waited for. */
  #evicting: string | undefined
  /** Devboxes whose eviction was cancelled: they stay while this pressure lasts. */
  readonly #spared = new Set<string>()
  #looking = false

  private constructor(options: Options, resources: Resource[]) {
    this.#options = options
    this.#resources = resources
    this.#timer = setInterval(() => void this.#look(), intervalMs).unref()
  }

  static async start(options: Options): Promise<PressureWatch> {
    const { pressure, dataDir } = options
    const floors = await floorsOf(pressure, dataDir)
    return new PressureWatch(options, [
      { name: 'memory', floorBytes: floors.memory, freeBytes: freeMemory, isShort: false },
      { name: 'disk', floorBytes: floors.disk, freeBytes: () => freeDisk(dataDir), isShort: false },
    ])
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look() {
    if (this.#looking) return
    this.#looking = true
    try {
      let reason: string | undefined
      for (const resource of this.#resources) reason = (await this.#shortage(resource)) ?? reason
      if (reason === undefined) this.#spared.clear()
      this.#follow()
      if (reason !== undefined && this.#evicting === undefined) this.#evictNext(reason)
    } catch (error) {
      logFailure('The free memory and disk could not be looked at')(error)
    } finally {
      this.#looking = false
    }
  }

  /** The text of a shortage; undefined when there is enough. */
  async #shortage(resource: Resource): Promise<string | undefined> {
    const free = await resource.freeBytes()
    const wasShort = resource.isShort
    resource.isShort = free < resource.floorBytes * (wasShort ? relief : 1)
    const text = `${mebibytes(free)} of ${resource.name} free, the floor is ${mebibytes(resource.floorBytes)}`
    if (resource.isShort !== wasShort)
      logError({
        level: resource.isShort ? 'warn' : 'info',
        message: `${resource.isShort ? 'Short' : 'No longer short'} of ${resource.name}: ${text}`,
      })
    return resource.isShort ? text : undefined
  }

  /** Forgets the devbox being evicted once its processes are gone or its eviction was cancelled. */
  #follow() {
    if (this.#evicting === undefined || this.#options.evictions.deadlineOf(this.#evicting) !== undefined) return
    const status = this.#options.statusOf(this.#evicting)
    if (status === 'suspending') return
    if (status === 'running') this.#spared.add(this.#evicting)
    this.#evicting = undefined
  }

  #evictNext(reason: string) {
    const { evictions, leastRecentlyUsed, pressure } = this.#options
    const next = leastRecentlyUsed().find(({ id }) => !this.#spared.has(id) && evictions.deadlineOf(id) === undefined)
    if (!next) return
    this.#evicting = next.id
    const deadlineMs = Date.now() + pressure.noticeMs
    evictions.schedule(next.account, { devbox_id: next.id, eviction_deadline_ms: deadlineMs })
    const at = new Date(deadlineMs).toISOString()
    logError({ level: 'warn', message: `Devbox ${next.id} was used longest ago and is evicted at ${at}: ${reason}` })
  }
}

/** In bytes; 0 where there is no floor. */
export const floorsOf = async ({ minFreeMemoryBytes, minFreeDiskBytes }: Pressure, dataDir: string) => {
  const { blocks, bsize } = await statfs(dataDir)
  const usual = (total: number) => Math.min(defaultFloorBytes, Math.floor(total * defaultFloorShare))
  return { memory: minFreeMemoryBytes ?? usual(totalmem()), disk: minFreeDiskBytes ?? usual(blocks * bsize) }
}

/** On Linux this is MemAvailable: what could be had without swapping. */
export const freeMemory = freemem

export const freeDisk = async (dataDir: string): Promise<number> => {
  const { bavail, bsize } = await statfs(dataDir)
  return bavail * bsize
}

const mebibytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB`
