import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'

const maxBacklogBytes = 1024 * 1024
/** Unspecified: how long a sender waits for the command to read before its text is rejected. */
const maxWaitMs = 10_000

export class Stdin {
  readonly #backlog = new PassThrough({ highWaterMark: maxBacklogBytes })
  #socket: Socket | undefined
  #queue: Promise<unknown> = Promise.resolve()

  readonly #maxWaitMs: number

  constructor(waitMs = maxWaitMs) {
    this.#maxWaitMs = waitMs
    this.#backlog.on('error', () => undefined)
  }

  /** Forwards to the command's pipe and closes it after the last write. */
  connect(descriptor: number): void {
    const socket = new Socket({ fd: descriptor, readable: false, writable: true })
    socket.on('error', () => undefined)
    socket.once('close', () => this.close())
    this.#socket = socket
    this.#backlog.pipe(socket)
  }

  /** Returns false if the text was rejected: the input has ended or the command doesn't read. */
  write(text: string): Promise<boolean> {
    const giveUpAt = Date.now() + this.#maxWaitMs
    return this.#enqueue(async () => {
      if (this.#backlog.writableNeedDrain) await this.#drained(giveUpAt - Date.now())
      if (!this.#backlog.writable || this.#backlog.writableNeedDrain) return false
      this.#backlog.write(text)
      return true
    })
  }

  end(): Promise<boolean> {
    return this.#enqueue(async () => {
      if (!this.#backlog.writable) return false
      this.#backlog.end()
      return true
    })
  }

  close(): void {
    this.#backlog.destroy()
    this.#socket?.destroy()
  }

  #enqueue(work: () => Promise<boolean>): Promise<boolean> {
    const done = this.#queue.then(work)
    this.#queue = done
    return done
  }

  #drained(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        this.#backlog.off('drain', finish).off('close', finish)
        resolve()
      }
      const timer = setTimeout(finish, waitMs)
      this.#backlog.once('drain', finish).once('close', finish)
    })
  }
}
