/** More than the window of a page, so that what was lost with a connection can be sent again. */
const ringBytes = 512 * 1024

/** The last bytes a shell has printed. The offset of a byte is how many the shell had printed before it. */
export class OutputRing {
  // The byte of an offset is at that offset modulo the length. A list of the pieces as they came would take a hundred
  // times the memory for single bytes.
  #ring: Buffer | undefined
  #start = 0
  #end = 0

  /** The offset of the next byte. */
  get end(): number {
    return this.#end
  }

  /** Drops everything; the next byte is at `offset`. */
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

  /** The output from `offset` on; undefined when not all of it is kept, or it is not printed yet. */
  from(offset: number): Buffer | undefined {
    if (offset < this.#start || offset > this.#end) return undefined
    const length = this.#end - offset
    if (!this.#ring || length === 0) return Buffer.alloc(0)
    const at = offset % ringBytes
    const first = this.#ring.subarray(at, at + length)
    return Buffer.concat([first, this.#ring.subarray(0, length - first.length)])
  }
}
