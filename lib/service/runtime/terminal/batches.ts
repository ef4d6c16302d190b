const maxBatchBytes = 32 * 1024

/**
 * Puts together what a program prints without a pause: it is read in pieces of 4 KiB at most, each of which costs
 * everyone on its way to the screen. The first piece is passed on at once; those that follow in the same turn of the
 * event loop, or without a turn between them, go together.
 */
export class Batches {
  readonly #pass: (bytes: Buffer) => void
  #pieces: Buffer[] = []
  #bytes = 0
  #isOpen = false
  #hasNews = false

  constructor(pass: (bytes: Buffer) => void) {
    this.#pass = pass
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    this.#hasNews = true
    if (!this.#isOpen || this.#bytes >= maxBatchBytes) this.flush()
    if (this.#isOpen) return
    this.#isOpen = true
    this.#wait()
  }

  flush(): void {
    const [first] = this.#pieces
    if (!first) return
    const bytes = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.#bytes)
    this.#pieces = []
    this.#bytes = 0
    this.#pass(bytes)
  }

  #wait() {
    this.#hasNews = false
    // The first comes before the next read, the second after it.
    setImmediate(() =>
      setImmediate(() => {
        if (this.#hasNews) return this.#wait()
        this.#isOpen = false
        this.flush()
      }),
    )
  }
}
