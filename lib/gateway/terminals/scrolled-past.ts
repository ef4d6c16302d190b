const lf = 0x0a
const cr = 0x0d
/** ESC, and what chooses another set of characters: the only control characters that are felt in later lines. */
const felt = [0x1b, 0x0e, 0x0f]

/** True of text that leaves nothing behind but what it prints: no sequences, nor characters that stand for one (C1). */
export const isPlain = (bytes: Uint8Array): boolean => {
  if (felt.some((control) => bytes.includes(control))) return false
  for (let at = bytes.indexOf(0xc2); at >= 0; at = bytes.indexOf(0xc2, at + 1)) {
    const next = bytes[at + 1] ?? 0
    if (next >= 0x80 && next < 0xa0) return false
  }
  return true
}

/**
 * How many bytes at the beginning may be left out, since so many line ends follow in plain text that all they print has
 * scrolled away in the end. What is left begins with a line end, which brings the cursor to where it would have been.
 */
export const bytesScrolledPast = (pieces: readonly Uint8Array[], lines: number): number => {
  let missing = lines
  for (let index = pieces.length - 1; index >= 0; index--) {
    const bytes = pieces[index] as Uint8Array
    for (let at = bytes.lastIndexOf(lf); at > 0; at = bytes.lastIndexOf(lf, at - 1)) {
      missing--
      if (missing > 0 || bytes[at - 1] !== cr) continue
      const before = pieces.slice(0, index)
      if (![...before, bytes.subarray(0, at)].every(isPlain)) return 0
      return before.reduce((sum, { length }) => sum + length, at - 1)
    }
  }
  return 0
}
