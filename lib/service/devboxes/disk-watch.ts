import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Isolation } from '#lib/service/engine/engine.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { usageOf } from './disk.ts'
import { diskFolders } from './mounts.ts'

const checkIntervalMs = 1_000
const pauseFactor = 20
/** Measure this often even if free space hasn't changed: deletions elsewhere may hide a devbox's writes. */
const maxPauseMs = 30_000
const minChangeBytes = 2 ** 20
/** A devbox over its limit may run, to delete files, until it grows by this much. */
const graceBytes = 2 ** 24
const growthMs = 5 * 60_000

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
  exceeded: (devboxId: string, usedBytes: number) => void
}

interface Measured {
  usedBytes: number
  stopBytes: number
  freeBytes: number
  atMs: number
  pausedUntilMs: number
  history: { atMs: number; usedBytes: number }[]
}

/**
 * Enforces the total disk size of running devboxes by measuring one after another, using at most 5% of the time, and
 * only while the file system fills. Unspecified: over the limit a devbox is suspended; resumed, it may run as long as
 * it doesn't grow.
 */
export class DiskWatch {
  readonly #options: Options
  readonly #measured = new Map<string, Measured>()
  readonly #wereExceeded = new Set<string>()
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout
  #checking: Promise<void> | undefined

  constructor(options: Options) {
    this.#options = options
    this.#timer = setInterval(() => this.#check(), checkIntervalMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#checking
  }

  growing(): { id: string; account: string }[] {
    const grownBytes = ({ id }: WatchedDisk) => {
      const measured = this.#measured.get(id)
      if (!measured) return 0
      return measured.usedBytes - Math.min(...measured.history.map(({ usedBytes }) => usedBytes))
    }
    return this.#options
      .running()
      .map((each) => ({ each, grown: grownBytes(each) }))
      .filter(({ grown }) => grown > minChangeBytes)
      .sort((a, b) => b.grown - a.grown)
      .map(({ each: { id, account } }) => ({ id, account }))
  }

  #check() {
    if (this.#checking || this.#closing.signal.aborted) return
    this.#checking = this.#measureDue()
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) logFailure('Could not measure devbox disks')(error)
      })
      .finally(() => {
        this.#checking = undefined
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
          if (this.#options.running().some(({ id }) => id === each.id))
            logFailure(`Could not measure the disk of devbox ${each.id}`)(error)
        })
    }
  }

  #isDue(id: string, freeBytes: number): boolean {
    const last = this.#measured.get(id)
    if (!last) return true
    const now = Date.now()
    if (now < last.pausedUntilMs) return false
    return freeBytes < last.freeBytes - minChangeBytes || now > last.atMs + maxPauseMs
  }

  async #measure({ id, limitBytes, createTimeMs }: WatchedDisk, freeBytes: number) {
    const { folderOf, isolation, serviceId, exceeded } = this.#options
    const startMs = Date.now()
    // Everything it can write to, including what suspend deletes.
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
    // A new devbox's usage counts as growth.
    const isNew = createTimeMs > startMs - growthMs
    const before = last?.history ?? [{ atMs: startMs, usedBytes: isNew ? 0 : usedBytes }]
    const history = [...before.filter((each) => each.atMs > atMs - growthMs), { atMs, usedBytes }]
    const hasGrace = !isNew || this.#wereExceeded.has(id)
    const stopBytes = last?.stopBytes ?? Math.max(limitBytes, hasGrace ? usedBytes + graceBytes : 0)
    const nextStop = usedBytes <= limitBytes ? limitBytes : stopBytes
    const pauseMs = Math.max(checkIntervalMs, pauseFactor * (atMs - startMs))
    this.#measured.set(id, { usedBytes, stopBytes: nextStop, freeBytes, atMs, pausedUntilMs: atMs + pauseMs, history })
    if (usedBytes <= nextStop) return
    this.#wereExceeded.add(id)
    this.#measured.delete(id)
    exceeded(id, usedBytes)
  }
}
