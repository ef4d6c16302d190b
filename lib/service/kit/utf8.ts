const isContinuation = (byte: number | undefined) => ((byte ?? 0) & 0xc0) === 0x80

export const firstCharacter = (bytes: Uint8Array): number => {
  let at = 0
  while (at < 3 && isContinuation(bytes[at])) at++
  return at
}

export const lengthOfWholeCharacters = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (isContinuation(byte)) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
