const maxBatchBytes = 32 * 1024

/**
 * Joins what a program prints without a pause: it is read in pieces of 4 KiB at most, and each piece costs a message on
 * every hop to the screen. The first piece is passed on at once; pieces that follow in the same turn of the event loop,
 * or without a turn between them, go together.
 */
export class Batches {
  readonly #pass: (bytes: Buffer) => void
  /** Bytes before `#start` were passed on, those from there to `#end` wait. */
  #room = Buffer.allocUnsafe(maxBatchBytes)
  #start = 0
  #end = 0
  #isOpen = false
  #hasMore = false

  constructor(pass: (bytes: Buffer) => void) {
    this.#pass = pass
  }

  /** Takes a copy. */
  add(piece: Uint8Array): void {
    if (this.#end + piece.length > this.#room.length) {
      this.flush()
      this.#room = Buffer.allocUnsafe(Math.max(maxBatchBytes, piece.length))
      this.#start = this.#end = 0
    }
    this.#room.set(piece, this.#end)
    this.#end += piece.length
    this.#hasMore = true
    if (this.#isOpen) return
    this.flush()
    this.#isOpen = true
    this.#wait()
  }

  flush(): void {
    if (this.#start === this.#end) return
    const bytes = this.#room.subarray(this.#start, this.#end)
    this.#start = this.#end
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
