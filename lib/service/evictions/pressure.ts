import { statfs } from 'node:fs/promises'
import { freemem, totalmem } from 'node:os'
import { logError, logFailure } from '#lib/service/kit/log.ts'
import type { Evictions } from './evictions.ts'

const intervalMs = 1_000
const defaultFloorBytes = 256 * 2 ** 20
const defaultFloorShare = 0.05

// Low memory evicts the least recently used devbox, low disk space the one that is filling the disk.
export interface Pressure {
  /** Free bytes below which devboxes are evicted. 0: never. Default: 256 MiB or 5 %, whichever is less. */
  minFreeMemoryBytes?: number
  minFreeDiskBytes?: number
  noticeMs: number
}

/** Unspecified: long enough to save a file, short enough when memory is running out. */
export const defaultPressure: Pressure = { noticeMs: 60_000 }

interface Options {
  pressure: Pressure
  dataDir: string
  evictions: Pick<Evictions, 'schedule' | 'deadlineOf'>
  /** Running devboxes of all accounts, least recently used first. */
  leastRecentlyUsed: () => readonly { id: string; account: string }[]
  growing: () => readonly { id: string; account: string }[]
  /** Deletes data of what has ended and returns the number of bytes freed. */
  freeEnded: (bytes: number) => Promise<number>
  statusOf: (devboxId: string) => string
}

type Resource = 'memory' | 'disk'
type Shortage = { resource: Resource; text: string; missingBytes: number; isUrgent: boolean }

export class PressureWatch {
  readonly #options: Options
  readonly #timer: NodeJS.Timeout
  readonly #short = new Set<Resource>()
  #evicting: string | undefined
  /** Devboxes whose eviction was canceled; not evicted again during this shortage. */
  readonly #spared = new Set<string>()
  #isChecking = false

  constructor(options: Options) {
    this.#options = options
    this.#timer = setInterval(() => {
      if (this.#isChecking) return
      this.#isChecking = true
      this.#check()
        .catch(logFailure('Could not check free memory and disk'))
        .finally(() => {
          this.#isChecking = false
        })
    }, intervalMs).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #check() {
    const { pressure, dataDir } = this.#options
    const floors = await floorsOf(pressure, dataDir)
    const shortages = [
      this.#shortage('memory', freemem(), floors.memory),
      this.#shortage('disk', await freeDisk(dataDir), floors.disk),
    ].filter((each) => each !== undefined)
    if (shortages.length === 0) this.#spared.clear()
    this.#updateEvicting()
    const disk = shortages.find(({ resource }) => resource === 'disk')
    // Deletes data of ended devboxes before evicting a running one.
    const freedBytes = disk ? await this.#options.freeEnded(disk.missingBytes) : 0
    for (const shortage of shortages)
      if (this.#evicting === undefined && (shortage !== disk || freedBytes === 0)) this.#evictNext(shortage)
  }

  #shortage(resource: Resource, freeBytes: number, floorBytes: number): Shortage | undefined {
    const isShort = freeBytes < floorBytes
    const text = `${mebibytes(freeBytes)} of ${resource} free, minimum ${mebibytes(floorBytes)}`
    if (isShort && !this.#short.has(resource)) logError({ level: 'warn', message: `Low on ${resource}: ${text}` })
    if (isShort) this.#short.add(resource)
    else this.#short.delete(resource)
    if (!isShort) return undefined
    return { resource, text, missingBytes: floorBytes - freeBytes, isUrgent: freeBytes < floorBytes / 2 }
  }

  #updateEvicting() {
    if (this.#evicting === undefined || this.#options.evictions.deadlineOf(this.#evicting) !== undefined) return
    const status = this.#options.statusOf(this.#evicting)
    if (status === 'suspending') return
    if (status === 'running') this.#spared.add(this.#evicting)
    this.#evicting = undefined
  }

  #evictNext({ resource, text, isUrgent }: Shortage) {
    const { evictions, leastRecentlyUsed, growing, pressure } = this.#options
    const candidates = resource === 'disk' ? growing() : leastRecentlyUsed()
    const next = candidates.find(({ id }) => !this.#spared.has(id) && evictions.deadlineOf(id) === undefined)
    if (!next) return
    // A disk can fill faster than any notice; the rest is needed by the service and for removing files.
    const deadlineMs = Date.now() + (resource === 'disk' && isUrgent ? 0 : pressure.noticeMs)
    evictions.schedule(next.account, { devbox_id: next.id, eviction_deadline_ms: deadlineMs })
    this.#evicting = next.id
    const at = new Date(deadlineMs).toISOString()
    const why = resource === 'disk' ? 'is filling the disk' : 'is the least recently used'
    logError({ level: 'warn', message: `Devbox ${next.id} ${why} and will be evicted at ${at}: ${text}` })
  }
}

export const floorsOf = async ({ minFreeMemoryBytes, minFreeDiskBytes }: Pressure, dataDir: string) => {
  const { blocks, bsize } = await statfs(dataDir)
  const usual = (total: number) => Math.min(defaultFloorBytes, Math.floor(total * defaultFloorShare))
  return { memory: minFreeMemoryBytes ?? usual(totalmem()), disk: minFreeDiskBytes ?? usual(blocks * bsize) }
}

export const freeDisk = async (dataDir: string): Promise<number> => {
  const { bavail, bsize } = await statfs(dataDir)
  return bavail * bsize
}

const mebibytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB`
