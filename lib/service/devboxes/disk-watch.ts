import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Isolation } from '#lib/service/engine/engine.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { usageOf } from './disk.ts'
import { diskFolders } from './mounts.ts'

const lookMs = 1_000
/** After a measurement a devbox is left alone for this many times as long as that took. */
const restFactor = 20
/** What is written elsewhere may hide what a devbox writes, so each is measured now and then whatever the disk says. */
const maxRestMs = 30_000
/** Less than this may have come from anywhere. */
const noticedBytes = 2 ** 20
/** A devbox that is over its size may be used, so that files can be removed, until it has grown by this much more. */
const leewayBytes = 2 ** 24
/** A devbox that has written within this time is filling the disk. */
const growthMs = 5 * 60_000

/** A running devbox, as the watch needs it. */
export interface WatchedDisk {
  id: string
  account: string
  limitBytes: number
  createTimeMs: number
}

interface Options {
  dataDir: string
  folderOf: (devboxId: string) => string
  isolation: Isolation
  serviceId: string
  running: () => readonly WatchedDisk[]
  /** Its disk holds more than it may. */
  exceeded: (devboxId: string, usedBytes: number) => void
}

interface Measured {
  usedBytes: number
  /** Over this it is stopped. */
  stopBytes: number
  /** Free bytes of the file system at the measurement. */
  freeBytes: number
  atMs: number
  restUntilMs: number
  /** The least it held lately, oldest first. */
  history: { atMs: number; usedBytes: number }[]
}

/**
 * Holds the disk of each running devbox, as a whole, to its size: by measuring one after the other, at a pace that costs
 * a twentieth of the time at most, and only while the file system fills.
 * Unspecified: what happens at the limit. The devbox is suspended; resumed, it may be used as long as it does not grow.
 */
export class DiskWatch {
  readonly #options: Options
  readonly #measured = new Map<string, Measured>()
  readonly #wereExceeded = new Set<string>()
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout
  #looking: Promise<void> | undefined

  constructor(options: Options) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), lookMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#looking
  }

  /** Running devboxes whose disks have grown lately, the one that has grown most first. */
  growing(): { id: string; account: string }[] {
    const grownBytes = ({ id }: WatchedDisk) => {
      const measured = this.#measured.get(id)
      if (!measured) return 0
      return measured.usedBytes - Math.min(...measured.history.map(({ usedBytes }) => usedBytes))
    }
    return this.#options
      .running()
      .map((each) => ({ each, grown: grownBytes(each) }))
      .filter(({ grown }) => grown > noticedBytes)
      .sort((a, b) => b.grown - a.grown)
      .map(({ each: { id, account } }) => ({ id, account }))
  }

  #look() {
    if (this.#looking || this.#closing.signal.aborted) return
    this.#looking = this.#measureDue()
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) logFailure('The disks of devboxes could not be measured')(error)
      })
      .finally(() => {
        this.#looking = undefined
      })
  }

  async #measureDue() {
    const running = this.#options.running()
    const ids = new Set(running.map(({ id }) => id))
    for (const id of this.#measured.keys()) if (!ids.has(id)) this.#measured.delete(id)
    for (const each of running) {
      this.#closing.signal.throwIfAborted()
      const { bavail, bsize } = await statfs(this.#options.dataDir)
      if (this.#isDue(each.id, bavail * bsize))
        await this.#measure(each, bavail * bsize).catch((error: unknown) => {
          this.#closing.signal.throwIfAborted()
          // It may have ended meanwhile, and its disk with it.
          if (this.#options.running().some(({ id }) => id === each.id))
            logFailure(`The disk of devbox ${each.id} could not be measured`)(error)
        })
    }
  }

  #isDue(id: string, freeBytes: number): boolean {
    const last = this.#measured.get(id)
    if (!last) return true
    const now = Date.now()
    if (now < last.restUntilMs) return false
    return freeBytes < last.freeBytes - noticedBytes || now > last.atMs + maxRestMs
  }

  async #measure({ id, limitBytes, createTimeMs }: WatchedDisk, freeBytes: number) {
    const { folderOf, isolation, serviceId, exceeded } = this.#options
    const startMs = Date.now()
    // All that it may write to on this machine, whether it stays when the devbox is suspended or not.
    const folders = [...diskFolders, 'run', 'root', 'system']
      .map((name) => join(folderOf(id), name))
      .filter((path) => existsSync(path))
    const usedBytes = await usageOf(folders, {
      isolation,
      marks: { DEVDECK_SERVICE_ID: serviceId, DEVDECK_COPIES: 'sizes' },
      signal: this.#closing.signal,
    })
    const atMs = Date.now()
    const last = this.#measured.get(id)
    // What a new devbox holds already it has written since it was made.
    const isNew = createTimeMs > startMs - growthMs
    const before = last?.history ?? [{ atMs: startMs, usedBytes: isNew ? 0 : usedBytes }]
    const history = [...before.filter((each) => each.atMs > atMs - growthMs), { atMs, usedBytes }]
    const hasLeeway = !isNew || this.#wereExceeded.has(id)
    const stopBytes = last?.stopBytes ?? Math.max(limitBytes, hasLeeway ? usedBytes + leewayBytes : 0)
    // Once there is room again, the size itself is the limit again.
    const nextStop = usedBytes <= limitBytes ? limitBytes : stopBytes
    const rest = Math.max(lookMs, restFactor * (atMs - startMs))
    this.#measured.set(id, { usedBytes, stopBytes: nextStop, freeBytes, atMs, restUntilMs: atMs + rest, history })
    if (usedBytes <= nextStop) return
    this.#wereExceeded.add(id)
    // It may be resumed before the next look, and begins anew then.
    this.#measured.delete(id)
    exceeded(id, usedBytes)
  }
}
