const maxBatchBytes = 32 * 1024

/**
 * Joins what a program prints without a pause: it is read in pieces of 4 KiB at most, and each piece costs a message on
 * every hop to the screen. The first piece is passed on at once; pieces that follow in the same turn of the event loop,
 * or without a turn between them, go together.
 */
export class Batches {
  readonly #pass: (bytes: Buffer) => void
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #isOpen = false
  #hasMore = false

  constructor(pass: (bytes: Buffer) => void) {
    this.#pass = pass
  }

  /** Takes a copy. */
  add(piece: Uint8Array): void {
    if (this.#waitingBytes + piece.length > maxBatchBytes) this.flush()
    this.#waiting.push(Buffer.from(piece))
    this.#waitingBytes += piece.length
    this.#hasMore = true
    if (this.#isOpen) return
    this.flush()
    this.#isOpen = true
    this.#wait()
  }

  flush(): void {
    if (this.#waitingBytes === 0) return
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    this.#pass(bytes)
  }

  #wait() {
    this.#hasMore = false
    // The first comes before the next read, the second after it.
    setImmediate(() =>
      setImmediate(() => {
        if (this.#hasMore) return this.#wait()
        this.#isOpen = false
        this.flush()
      }),
    )
  }
}
