/**
 * Gives a terminal whole characters from bytes that come in pieces. xterm's own decoder garbles some that are cut, “
 * and … among them: of a piece that ends in 0x80 it forgets this byte.
 */
export class WholeCharacters {
  /** The beginning of a character whose end has not come. */
  rest: Uint8Array = new Uint8Array()

  take(bytes: Uint8Array): Uint8Array {
    let all = bytes
    if (this.rest.length > 0) {
      all = new Uint8Array(this.rest.length + bytes.length)
      all.set(this.rest)
      all.set(bytes, this.rest.length)
    }
    const whole = all.length - incompleteTail(all)
    this.rest = all.slice(whole)
    return all.subarray(0, whole)
  }
}

/** How many bytes at the end are the beginning of a character. */
export const incompleteTail = (bytes: Uint8Array): number => {
  for (let count = 1; count <= 3 && count <= bytes.length; count++) {
    const byte = bytes[bytes.length - count] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return count < (byte >= 0xf8 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? count : 0
  }
  return 0
}
