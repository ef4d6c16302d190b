/** More than can be on its way to a client at once, so that it can be sent again after a lost connection. */
export const maxHistoryBytes = 1024 * 1024
const firstHistoryBytes = 64 * 1024

/** The last bytes a terminal has shown, by their offset: how many bytes it had shown before. */
export class History {
  // A ring: the byte of an offset is at that offset modulo its length. Chunks kept as they came would cost a hundred
  // times their bytes when a program prints them one by one.
  #ring = Buffer.alloc(firstHistoryBytes)
  #end = 0

  /** The offset of the next byte. */
  get end(): number {
    return this.#end
  }

  /** Takes a copy. */
  add(chunk: Uint8Array): void {
    this.#growFor(chunk.length)
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#ring.length))
    this.#end += chunk.length
    const at = (this.#end - kept.length) % this.#ring.length
    const first = kept.subarray(0, this.#ring.length - at)
    this.#ring.set(first, at)
    this.#ring.set(kept.subarray(first.length))
  }

  /** `after` if the bytes from there on are kept; otherwise the first line that is kept whole. */
  startFor(after: number | undefined): number {
    const oldest = Math.max(0, this.#end - this.#ring.length)
    if (after !== undefined && after >= oldest && after <= this.#end) return after
    return oldest === 0 ? 0 : oldest + this.from(oldest).indexOf('\n') + 1
  }

  /** A copy of the bytes from this offset on, which has to be one of those kept. */
  from(offset: number): Buffer {
    return Buffer.concat(this.viewsFrom(offset))
  }

  /** The bytes from this offset on where they are kept: they change once more has come than is kept. */
  viewsFrom(offset: number): Buffer[] {
    const at = offset % this.#ring.length
    const length = this.#end - offset
    const first = this.#ring.subarray(at, at + length)
    return first.length === length ? [first] : [first, this.#ring.subarray(0, length - first.length)]
  }

  #growFor(more: number) {
    const needed = Math.min(maxHistoryBytes, this.#end + more)
    if (needed <= this.#ring.length) return
    const all = this.from(0)
    let size = this.#ring.length
    while (size < needed) size *= 2
    this.#ring = Buffer.alloc(size)
    all.copy(this.#ring)
  }
}
