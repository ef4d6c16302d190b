const sampleBytes = 8 * 1024

/** UTF-8 without a byte order mark. */
const encodingOf = ([first, second]: Uint8Array): string => {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** Decodes chunks with the encoding of the first one's byte order mark. Invalid bytes become replacement characters. */
export const textDecoder = (): ((chunk: Uint8Array, isLast?: boolean) => string) => {
  let decoder: TextDecoder | undefined
  return (chunk, isLast = false) => {
    decoder ??= new TextDecoder(encodingOf(chunk))
    return decoder.decode(chunk, { stream: !isLast })
  }
}

export const decodeText = (bytes: Uint8Array): string => textDecoder()(bytes, true)

/** Whether too much of the start is control or invalid characters to show as text. */
export const isBinary = (bytes: Uint8Array): boolean => {
  // A log truncated while it was written starts with a long run of NUL.
  const sample = textDecoder()(bytes.subarray(0, sampleBytes)).replace(/\0+/g, '\0')
  const odd = sample.match(oddCharacters)?.length ?? 0
  return odd > maxOdd && odd > sample.length * maxOddShare
}

const maxOdd = 8
const maxOddShare = 0.2
// biome-ignore lint/suspicious/noControlCharactersInRegex: counts control characters
const oddCharacters = /[\0-\x06\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g
