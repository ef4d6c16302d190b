const ackBytes = 64 * 1024
/** About a frame: an acknowledgement of less is only there so that the last bytes are acknowledged, too. */
const quietMs = 16

/** Tells the console how much of one connection's output has been parsed, in portions. */
export class AckCounter {
  readonly #send: (bytes: number) => void
  readonly #quietMs: number
  #waiting = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isStopped = false

  constructor(send: (bytes: number) => void, afterMs = quietMs) {
    this.#send = send
    this.#quietMs = afterMs
  }

  parsed(bytes: number) {
    if (this.#isStopped) return
    this.#waiting += bytes
    if (this.#waiting >= ackBytes) this.#flush()
    // No animation frame: hidden pages have none, and go on reading.
    else this.#timer ??= setTimeout(() => this.#flush(), this.#quietMs)
  }

  /** What is parsed later was read from a connection that is gone. */
  stop() {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #flush() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#send(this.#waiting)
    this.#waiting = 0
  }
}
