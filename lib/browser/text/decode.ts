const sampleBytes = 8 * 1024

/** The encoding that a byte order mark names; UTF-8 without one. */
const encodingOf = ([first, second]: Uint8Array): string => {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** Decodes bytes that come in pieces, the first of which says how. A bad byte becomes a replacement sign. */
export const textDecoder = (): ((piece: Uint8Array, isLast?: boolean) => string) => {
  let decoder: TextDecoder | undefined
  return (piece, isLast = false) => {
    decoder ??= new TextDecoder(encodingOf(piece))
    return decoder.decode(piece, { stream: !isLast })
  }
}

export const decodeText = (bytes: Uint8Array): string => textDecoder()(bytes, true)

/** Whether so much of the beginning stands for no character that it is not worth reading as text. */
export const isBinary = (bytes: Uint8Array): boolean => {
  // A log whose beginning was cut off while it was written to begins with a long run of NUL.
  const sample = textDecoder()(bytes.subarray(0, sampleBytes)).replace(/\0+/g, '\0')
  const odd = sample.match(oddCharacters)?.length ?? 0
  return odd > maxOdd && odd > sample.length * maxOddShare
}

/** Any short text is readable. */
const maxOdd = 8
const maxOddShare = 0.2
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is counted
const oddCharacters = /[\0-\x06\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g
