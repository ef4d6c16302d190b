import { writeSync } from 'node:fs'
import type { PseudoTerminal } from './pseudo-terminal.ts'

const typeAgainMs = 5

/**
 * Types into a terminal without blocking: a stream's `write` would hold up the whole process while a program does not
 * read what was typed.
 */
export class Keyboard {
  readonly #terminal: Pick<PseudoTerminal, 'fd' | 'isOpen'>
  #waiting: Buffer[] = []
  #timer: NodeJS.Timeout | undefined
  #notify: { bytes: number; run: () => void } | undefined
  #stopped = false
  waitingBytes = 0

  constructor(terminal: Pick<PseudoTerminal, 'fd' | 'isOpen'>) {
    this.#terminal = terminal
  }

  type(bytes: Buffer) {
    if (this.#stopped) return
    this.#waiting.push(bytes)
    this.waitingBytes += bytes.length
    if (!this.#timer) this.#write()
  }

  /** Calls `run` once, when no more than `bytes` wait to be typed. */
  onceBelow(bytes: number, run: () => void) {
    this.#notify = { bytes, run }
  }

  /** Forgets what waits and takes nothing more. */
  stop() {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#waiting = []
    this.#took(this.waitingBytes)
  }

  #write() {
    this.#timer = undefined
    for (let [first] = this.#waiting; first; [first] = this.#waiting) {
      const written = this.#writeOnce(first)
      if (written === undefined) return this.stop()
      this.#took(written)
      if (written === first.length) this.#waiting.shift()
      else {
        this.#waiting[0] = first.subarray(written)
        this.#timer = setTimeout(() => this.#write(), typeAgainMs)
        return
      }
    }
  }

  /** How many bytes the terminal took, which may be none; undefined when it has been closed. */
  #writeOnce(bytes: Buffer): number | undefined {
    // The number of a closed terminal may be another file's.
    if (!this.#terminal.isOpen) return undefined
    try {
      return writeSync(this.#terminal.fd, bytes)
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : undefined
    }
  }

  #took(bytes: number) {
    this.waitingBytes -= bytes
    if (!this.#notify || this.waitingBytes > this.#notify.bytes) return
    const { run } = this.#notify
    this.#notify = undefined
    run()
  }
}
