const maxBatchBytes = 32 * 1024

/**
 * Puts together what a program prints without a pause: it is read in pieces of 4 KiB at most, each of which costs
 * everyone on its way to the screen. The first piece is passed on at once; those that follow in the same turn of the
 * event loop, or without a turn between them, go together.
 */
export class Batches {
  readonly #pass: (bytes: Buffer) => void
  /** What was passed on lies before `#start`, what waits between that and `#end`. */
  #room = Buffer.allocUnsafe(maxBatchBytes)
  #start = 0
  #end = 0
  #isOpen = false
  #hasNews = false

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
    this.#hasNews = true
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
