/** With one piece more it still is a message of 64 KiB at most. */
const batchBytes = 60 * 1024
/** Nobody sees it, and at 20 MB a second a message has ten times the bytes that one read gives. */
const batchMs = 1

/**
 * Tells when to pass on what a program prints without a pause: it is read in pieces of 4 KiB at most, and each piece
 * costs a message on every hop to the screen. The first piece is passed on at once; pieces that follow it within a
 * millisecond go together.
 */
export class Batches {
  readonly #pass: () => void
  #waitingBytes = 0
  #isOpen = false

  constructor(pass: () => void) {
    this.#pass = pass
  }

  /** So many bytes more were printed. */
  add(bytes: number): void {
    this.#waitingBytes += bytes
    if (this.#isOpen && this.#waitingBytes < batchBytes) return
    this.flush()
    if (!this.#isOpen) this.#open()
  }

  flush(): void {
    if (this.#waitingBytes === 0) return
    this.#waitingBytes = 0
    this.#pass()
  }

  #open() {
    this.#isOpen = true
    setTimeout(() => {
      this.#isOpen = false
      if (this.#waitingBytes === 0) return
      this.flush()
      this.#open()
    }, batchMs)
  }
}
