/** Larger than a page's window, so that output lost with a connection can be sent again. */
const ringBytes = 512 * 1024

/** Ring buffer of a shell's latest output, addressed by offset: the number of bytes printed before. */
export class OutputRing {
  // Offsets map to the buffer modulo its length. Keeping the chunks would cost a hundred times the memory for single
  // bytes.
  #ring: Buffer | undefined
  #start = 0
  #end = 0

  get end(): number {
    return this.#end
  }

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

  /** Output from `offset` on, or undefined if part of it is no longer buffered or not printed yet. */
  from(offset: number): Buffer | undefined {
    if (offset < this.#start || offset > this.#end) return undefined
    const length = this.#end - offset
    if (!this.#ring || length === 0) return Buffer.alloc(0)
    const at = offset % ringBytes
    const first = this.#ring.subarray(at, at + length)
    return Buffer.concat([first, this.#ring.subarray(0, length - first.length)])
  }
}
