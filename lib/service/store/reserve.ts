import { randomFillSync } from 'node:crypto'
import { closeSync, fstatSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDiskFull } from '#lib/service/kit/errors.ts'

const usualBytes = 2 ** 20
const maxDiskShare = 1 / 16

/** Disk space reserved for writes that must succeed on a full disk, such as shutting down a devbox to free space. */
export class Reserve {
  readonly #file: string
  #isFull = false

  constructor(file: string) {
    this.#file = file
    this.#take()
  }

  essential<T>(write: () => T): T {
    if (!this.#isFull) this.#take()
    try {
      return write()
    } catch (error) {
      if (!isDiskFull(error)) throw error
      rmSync(this.#file, { force: true })
      try {
        return write()
      } finally {
        // Immediately, before other writes can use the space.
        this.#take()
      }
    }
  }

  #take() {
    this.#isFull = false
    try {
      const { blocks, bsize } = statfsSync(dirname(this.#file))
      const reserveBytes = Math.min(usualBytes, Math.floor((blocks * bsize * maxDiskShare) / bsize) * bsize)
      const handle = openSync(this.#file, 'a', 0o600)
      try {
        // Random bytes cannot be stored sparse or compressed.
        for (let size = fstatSync(handle).size; size < reserveBytes; )
          size += writeSync(handle, randomFillSync(Buffer.allocUnsafe(Math.min(65_536, reserveBytes - size))))
        this.#isFull = true
      } finally {
        closeSync(handle)
      }
    } catch (error) {
      if (!isDiskFull(error)) throw error
    }
  }
}
