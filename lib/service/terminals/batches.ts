/** With one piece more it still is a message of 64 KiB at most. */
const batchBytes = 60 * 1024

/**
 * Tells when to pass on what a program prints without a pause: it is read in pieces of 4 KiB at most, and each piece
 * costs a message on every hop to the screen. The first piece is passed on at once; pieces that follow in the same turn
 * of the event loop, or without a turn between them, go together.
 */
export class Batches {
  readonly #pass: () => void
  #waitingBytes = 0
  #isOpen = false
  #hasMore = false

  constructor(pass: () => void) {
    this.#pass = pass
  }

  /** So many bytes more were printed. */
  add(bytes: number): void {
    this.#waitingBytes += bytes
    this.#hasMore = true
    if (this.#isOpen && this.#waitingBytes < batchBytes) return
    this.flush()
    if (this.#isOpen) return
    this.#isOpen = true
    this.#wait()
  }

  flush(): void {
    if (this.#waitingBytes === 0) return
    this.#waitingBytes = 0
    this.#pass()
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
