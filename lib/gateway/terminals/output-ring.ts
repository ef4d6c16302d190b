/** More than a page may have on its way to it: what is lost with a connection can be sent again. */
const ringBytes = 512 * 1024

/** The last bytes a shell has printed, by their offset: how many it had printed before. */
export class OutputRing {
  // The byte of an offset is at that offset modulo the length. Kept as they came, single bytes would cost a hundredfold.
  #ring: Buffer | undefined
  #start = 0
  #end = 0

  /** The offset of the next byte. */
  get end(): number {
    return this.#end
  }

  /** Forgets all; the next byte is at `offset`. */
  restart(offset: number): void {
    this.#start = this.#end = offset
  }

  add(bytes: Buffer): void {
    this.#ring ??= Buffer.allocUnsafe(ringBytes)
    const kept = bytes.subarray(Math.max(0, bytes.length - ringBytes))
    this.#end += bytes.length
    const copied = kept.copy(this.#ring, (this.#end - kept.length) % ringBytes)
    kept.copy(this.#ring, 0, copied)
    this.#start = Math.max(this.#start, this.#end - ringBytes)
  }

  /** What was printed from `offset` on; undefined when that is not all kept, or not printed yet. */
  from(offset: number): Buffer | undefined {
    if (offset < this.#start || offset > this.#end) return undefined
    const length = this.#end - offset
    if (!this.#ring || length === 0) return Buffer.alloc(0)
    const at = offset % ringBytes
    const first = this.#ring.subarray(at, at + length)
    return Buffer.concat([first, this.#ring.subarray(0, length - first.length)])
  }
}
