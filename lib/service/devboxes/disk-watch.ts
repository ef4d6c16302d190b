import { setTimeout as delay } from 'node:timers/promises'
import type { Disks } from '#lib/service/engine/box.ts'
import { freeDisk } from '#lib/service/evictions/pressure.ts'
import { isUnavailable } from '#lib/service/kit/errors.ts'
import { logChanges, logFailure } from '#lib/service/kit/log.ts'

const checkIntervalMs = 1_000
const pauseFactor = 4
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
  disksOf: (devboxId: string) => Pick<Disks, 'usedBytes'>
  running: () => readonly WatchedDisk[]
  exceeded: (devboxId: string, usedBytes: number) => void
  measured?: (devboxId: string, usedBytes: number) => void
}

interface Measured {
  stopBytes: number
  history: { atMs: number; usedBytes: number }[]
}

/** Unspecified: over the limit a devbox is suspended; resumed, it may run as long as it doesn't grow. */
export class DiskWatch {
  readonly #options: Options
  readonly #measured = new Map<string, Measured>()
  readonly #wereExceeded = new Set<string>()
  readonly #closing = new AbortController()
  readonly #watching: Promise<void>
  #lastFreeBytes = 0
  #lastMs = 0

  constructor(options: Options) {
    this.#options = options
    this.#watching = this.#watch().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#watching
  }

  growing(): { id: string; account: string }[] {
    const grownBytes = ({ id }: WatchedDisk) => {
      const used = this.#measured.get(id)?.history.map(({ usedBytes }) => usedBytes) ?? [0]
      return (used.at(-1) ?? 0) - Math.min(...used)
    }
    return this.#options
      .running()
      .map((each) => ({ each, grown: grownBytes(each) }))
      .filter(({ grown }) => grown > minChangeBytes)
      .sort((a, b) => b.grown - a.grown)
      .map(({ each: { id, account } }) => ({ id, account }))
  }

  async #watch() {
    const { signal } = this.#closing
    const log = logChanges('Could not measure devbox disks; retrying', 'Devbox disks are measured again')
    for (let pauseMs = checkIntervalMs; ; ) {
      await delay(pauseMs, undefined, { ref: false, signal })
      pauseMs = checkIntervalMs
      try {
        pauseMs = Math.max(checkIntervalMs, pauseFactor * (await this.#check()))
        log.succeeded()
      } catch (error) {
        signal.throwIfAborted()
        log.failed(error)
      }
    }
  }

  /** Returns how long it measured disks. */
  async #check(): Promise<number> {
    const { dataDir, running } = this.#options
    const all = running()
    const ids = new Set(all.map(({ id }) => id))
    for (const id of this.#measured.keys()) if (!ids.has(id)) this.#measured.delete(id)
    const freeBytes = await freeDisk(dataDir)
    const isDue = freeBytes < this.#lastFreeBytes - minChangeBytes || Date.now() > this.#lastMs + maxPauseMs
    if (!isDue && all.every(({ id }) => this.#measured.has(id))) return 0
    this.#lastFreeBytes = freeBytes
    const startMs = Date.now()
    for (const each of all)
      await this.#measure(each).catch((error: unknown) => {
        this.#closing.signal.throwIfAborted()
        // The engine logs its own outage.
        if (isUnavailable(error)) return
        if (running().some(({ id }) => id === each.id))
          logFailure(`Could not measure the disk of devbox ${each.id}`)(error)
      })
    this.#lastMs = Date.now()
    return this.#lastMs - startMs
  }

  async #measure({ id, limitBytes, createTimeMs }: WatchedDisk) {
    const { disksOf, exceeded, measured } = this.#options
    const usedBytes = await disksOf(id).usedBytes(id, this.#closing.signal)
    measured?.(id, usedBytes)
    const atMs = Date.now()
    const last = this.#measured.get(id)
    // A new devbox's usage counts as growth.
    const isNew = createTimeMs > atMs - growthMs
    const before = last?.history ?? [{ atMs, usedBytes: isNew ? 0 : usedBytes }]
    const history = [...before.filter((each) => each.atMs > atMs - growthMs), { atMs, usedBytes }]
    const hasGrace = !isNew || this.#wereExceeded.has(id)
    const stopBytes =
      usedBytes <= limitBytes
        ? limitBytes
        : (last?.stopBytes ?? Math.max(limitBytes, hasGrace ? usedBytes + graceBytes : 0))
    this.#measured.set(id, { stopBytes, history })
    if (usedBytes <= stopBytes) return
    this.#wereExceeded.add(id)
    this.#measured.delete(id)
    exceeded(id, usedBytes)
  }
}
