import { randomFillSync } from 'node:crypto'
import { closeSync, fstatSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDiskFull } from '#lib/service/kit/errors.ts'

const usualBytes = 2 ** 20
const largestShare = 1 / 16

/**
 * Room on the disk set aside for what must be written even when it is full: that a command has ended, that a devbox
 * was shut down, which is how room is made.
 */
export class Reserve {
  readonly #file: string
  #isWhole = false

  constructor(file: string) {
    this.#file = file
    this.#take()
  }

  /** Runs the write, a second time in the reserved room when the disk is full. */
  essential<T>(write: () => T): T {
    if (!this.#isWhole) this.#take()
    try {
      return write()
    } catch (error) {
      if (!isDiskFull(error)) throw error
      rmSync(this.#file, { force: true })
      try {
        return write()
      } finally {
        // At once, so that what is not essential cannot use it up.
        this.#take()
      }
    }
  }

  /** Sets aside what is missing of the reserve, or what there is. */
  #take() {
    this.#isWhole = false
    try {
      const { blocks, bsize } = statfsSync(dirname(this.#file))
      const wanted = Math.min(usualBytes, Math.floor((blocks * bsize * largestShare) / bsize) * bsize)
      const handle = openSync(this.#file, 'a', 0o600)
      try {
        // Nothing a file system could keep as a hole, or smaller than it is.
        for (let size = fstatSync(handle).size; size < wanted; )
          size += writeSync(handle, randomFillSync(Buffer.allocUnsafe(Math.min(65_536, wanted - size))))
        this.#isWhole = true
      } finally {
        closeSync(handle)
      }
    } catch (error) {
      // A smaller reserve, or none, is what a full disk leaves.
      if (!isDiskFull(error)) throw error
    }
  }
}
