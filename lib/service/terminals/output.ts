/** More than can be in flight, so it can be resent after a lost connection. */
export const maxHistoryBytes = 1024 * 1024
const firstHistoryBytes = 64 * 1024

/** The most recent terminal output, addressed by byte offset. */
export class History {
  // Ring buffer: small chunks stored individually would use a hundred times their size.
  #ring = Buffer.alloc(firstHistoryBytes)
  end = 0

  add(chunk: Uint8Array): void {
    this.#growFor(chunk.length)
    const recent = chunk.subarray(Math.max(0, chunk.length - this.#ring.length))
    this.end += chunk.length
    const at = (this.end - recent.length) % this.#ring.length
    const first = recent.subarray(0, this.#ring.length - at)
    this.#ring.set(first, at)
    this.#ring.set(recent.subarray(first.length))
  }

  /** Returns `after` if still available, otherwise the start of the first complete line. */
  startFor(after: number | undefined): number {
    const oldest = Math.max(0, this.end - this.#ring.length)
    if (after !== undefined && after >= oldest && after <= this.end) return after
    return oldest === 0 ? 0 : oldest + this.from(oldest).indexOf('\n') + 1
  }

  from(offset: number): Buffer {
    return Buffer.concat(this.viewsFrom(offset))
  }

  /** Views of the bytes from `offset`; overwritten once the ring wraps. */
  viewsFrom(offset: number): Buffer[] {
    const at = offset % this.#ring.length
    const length = this.end - offset
    const first = this.#ring.subarray(at, at + length)
    return first.length === length ? [first] : [first, this.#ring.subarray(0, length - first.length)]
  }

  #growFor(more: number) {
    const needed = Math.min(maxHistoryBytes, this.end + more)
    if (needed <= this.#ring.length) return
    const all = this.from(0)
    let size = this.#ring.length
    while (size < needed) size *= 2
    this.#ring = Buffer.alloc(size)
    all.copy(this.#ring)
  }
}
