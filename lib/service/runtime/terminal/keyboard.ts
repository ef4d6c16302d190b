import { writeSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { IPty } from '@lydell/node-pty'

const typeAgainMs = 5

/**
 * Types into a terminal and never waits for it. node-pty's own `write` does: while a program does not read what was
 * typed, it holds up the whole process.
 */
export class Keyboard {
  readonly #fd: number
  readonly #socket: Pick<Socket, 'destroyed'>
  #waiting: Buffer[] = []
  #timer: NodeJS.Timeout | undefined
  #notify: { bytes: number; run: () => void } | undefined
  #stopped = false
  waitingBytes = 0

  constructor(terminal: IPty) {
    // Not in its types. The number is the terminal's only while the socket is open: another file gets it afterwards.
    const { fd, _socket } = terminal as unknown as { fd: number; _socket: Socket }
    this.#fd = fd
    this.#socket = _socket
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

  /** How many bytes the terminal took, which may be none; undefined when it takes no more, ever. */
  #writeOnce(bytes: Buffer): number | undefined {
    if (this.#socket.destroyed) return undefined
    try {
      return writeSync(this.#fd, bytes)
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
