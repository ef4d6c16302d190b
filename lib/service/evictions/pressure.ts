import { statfs } from 'node:fs/promises'
import { freemem, totalmem } from 'node:os'
import { logError, logFailure } from '#lib/service/kit/log.ts'
import type { Evictions } from './evictions.ts'

const intervalMs = 1_000
const defaultFloorBytes = 256 * 2 ** 20
const defaultFloorShare = 0.05
/** Pressure ends only this far above the floor, so that it does not start and end with every page of memory. */
const relief = 1.1

/**
 * When the machine itself runs short of memory, the devbox used longest ago is evicted; when it runs short of disk, the
 * one that is filling it, or none if none is, because a devbox that is suspended keeps its disk.
 */
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
  /** Running devboxes whose disks have grown lately, the one that has grown most first. */
  growing: () => readonly { id: string; account: string }[]
  statusOf: (devboxId: string) => string
}

interface Resource {
  name: 'memory' | 'disk'
  floorBytes: number
  freeBytes: () => number | Promise<number>
  isShort: boolean
}

interface Shortage {
  of: Resource['name']
  text: string
  /** Less than half of the floor is left. */
  isUrgent: boolean
}

/** Evicts devboxes while the machine has less free memory or disk than it needs, one at a time. */
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
      const shortages: Shortage[] = []
      for (const resource of this.#resources) {
        const shortage = await this.#shortage(resource)
        if (shortage) shortages.push(shortage)
      }
      if (shortages.length === 0) this.#spared.clear()
      this.#follow()
      for (const shortage of shortages) if (this.#evicting === undefined) this.#evictNext(shortage)
    } catch (error) {
      logFailure('The free memory and disk could not be looked at')(error)
    } finally {
      this.#looking = false
    }
  }

  /** Undefined when there is enough. */
  async #shortage(resource: Resource): Promise<Shortage | undefined> {
    const free = await resource.freeBytes()
    const wasShort = resource.isShort
    resource.isShort = free < resource.floorBytes * (wasShort ? relief : 1)
    const text = `${mebibytes(free)} of ${resource.name} free, the floor is ${mebibytes(resource.floorBytes)}`
    if (resource.isShort !== wasShort)
      logError({
        level: resource.isShort ? 'warn' : 'info',
        message: `${resource.isShort ? 'Short' : 'No longer short'} of ${resource.name}: ${text}`,
      })
    const isUrgent = free < resource.floorBytes / 2
    return resource.isShort ? { of: resource.name, text, isUrgent } : undefined
  }

  /** Forgets the devbox being evicted once its processes are gone or its eviction was cancelled. */
  #follow() {
    if (this.#evicting === undefined || this.#options.evictions.deadlineOf(this.#evicting) !== undefined) return
    const status = this.#options.statusOf(this.#evicting)
    if (status === 'suspending') return
    if (status === 'running') this.#spared.add(this.#evicting)
    this.#evicting = undefined
  }

  #evictNext({ of, text, isUrgent }: Shortage) {
    const { evictions, leastRecentlyUsed, growing, pressure } = this.#options
    const candidates = of === 'disk' ? growing() : leastRecentlyUsed()
    const next = candidates.find(({ id }) => !this.#spared.has(id) && evictions.deadlineOf(id) === undefined)
    if (!next) return
    this.#evicting = next.id
    // A disk fills faster than any notice: what is left of it is for the service, and for removing files.
    const deadlineMs = Date.now() + (of === 'disk' && isUrgent ? 0 : pressure.noticeMs)
    evictions.schedule(next.account, { devbox_id: next.id, eviction_deadline_ms: deadlineMs })
    const at = new Date(deadlineMs).toISOString()
    const why = of === 'disk' ? 'is filling the disk' : 'was used longest ago'
    logError({ level: 'warn', message: `Devbox ${next.id} ${why} and is evicted at ${at}: ${text}` })
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
