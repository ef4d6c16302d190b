import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'

// A sender waits while the command has more than this still to read.
const maxBacklogBytes = 1024 * 1024
/** Unspecified: how long a sender waits for a command that does not read; what it sent is then not taken. */
const maxWaitMs = 10_000

/** The standard input of one command. What is sent before the command starts waits for it. */
export class Stdin {
  readonly #backlog = new PassThrough({ highWaterMark: maxBacklogBytes })
  #socket: Socket | undefined
  /** Texts go in whole and in the order they came. */
  #turn: Promise<unknown> = Promise.resolve()

  readonly #maxWaitMs: number

  constructor(waitMs = maxWaitMs) {
    this.#maxWaitMs = waitMs
    // A writer that waits learns of the end by `close`.
    this.#backlog.on('error', () => undefined)
  }

  /** Sends on to the write end of the command's pipe, which is closed after the last of it. */
  connect(descriptor: number): void {
    const socket = new Socket({ fd: descriptor, readable: false, writable: true })
    // The command has closed its end.
    socket.on('error', () => undefined)
    socket.once('close', () => this.close())
    this.#socket = socket
    this.#backlog.pipe(socket)
  }

  /** False when nothing of the text was taken: the input has ended, or the command does not read. */
  write(text: string): Promise<boolean> {
    const giveUpAt = Date.now() + this.#maxWaitMs
    return this.#inTurn(async () => {
      if (this.#backlog.writableNeedDrain) await this.#drained(giveUpAt - Date.now())
      if (!this.#backlog.writable || this.#backlog.writableNeedDrain) return false
      this.#backlog.write(text)
      return true
    })
  }

  /** The command reads to the end of what was sent. False when the input had ended before. */
  end(): Promise<boolean> {
    return this.#inTurn(async () => {
      if (!this.#backlog.writable) return false
      this.#backlog.end()
      return true
    })
  }

  /** What was not read by now is lost. */
  close(): void {
    this.#backlog.destroy()
    this.#socket?.destroy()
  }

  #inTurn(work: () => Promise<boolean>): Promise<boolean> {
    const done = this.#turn.then(work)
    this.#turn = done
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
