const ackBytes = 64 * 1024
const quietMs = 16

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
    // A timer, because hidden pages have no animation frames.
    else this.#timer ??= setTimeout(() => this.#flush(), this.#quietMs)
  }

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
