/** Longer sequences are dropped on restore. */
const maxBytes = 64 * 1024

const esc = 0x1b
/** xterm parser states: 0 is ground, 1 to 6 are ESC and CSI, 7 APC, 8 OSC, the rest DCS. */
const ground = 0
const lastOfCsi = 6
const apc = 7
const osc = 8

/** Bytes of the sequence in progress, which a new parser needs before further output. */
export class OpenSequence {
  #bytes = Buffer.alloc(0)
  #isTooLong = false
  #state = ground

  parsed(bytes: Uint8Array, state: number): void {
    const wasOpen = this.#state !== ground
    this.#state = state
    if (state === ground) {
      if (wasOpen) this.#start(new Uint8Array())
      return
    }
    const begin = lastBegin(bytes)
    if (begin >= 0) this.#start(bytes.subarray(begin))
    else if (!this.#isTooLong) this.#goOn(bytes)
  }

  get bytes(): Uint8Array {
    if (this.#isTooLong && this.#state === osc) return Buffer.from('\x1b]x')
    if (this.#isTooLong && this.#state > osc) return Buffer.from('\x1bPx')
    // Control characters inside a sequence have already taken effect.
    if (this.#state <= lastOfCsi) return this.#bytes.filter((byte, at) => byte >= 0x20 || at === 0)
    return this.#state === apc ? Buffer.from('\x1b_') : this.#bytes
  }

  #start(bytes: Uint8Array): void {
    this.#bytes = Buffer.from(bytes.subarray(0, maxBytes))
    this.#isTooLong = bytes.length > maxBytes
  }

  #goOn(bytes: Uint8Array): void {
    const room = maxBytes - this.#bytes.length
    this.#bytes = Buffer.concat([this.#bytes, bytes.subarray(0, room)])
    this.#isTooLong = bytes.length > room
  }
}

const lastBegin = (bytes: Uint8Array): number => {
  const begin = bytes.lastIndexOf(esc)
  for (let at = bytes.length - 2; at > begin; at--)
    if (bytes[at] === 0xc2 && [0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f].includes(bytes[at + 1] ?? 0)) return at
  return begin
}
