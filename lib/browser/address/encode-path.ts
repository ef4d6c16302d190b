/** Shows bytes that aren't UTF-8 (lone surrogates, see `decodeName` of the Files tab) as `\xff`. */
export const displayName = (name: string): string => name.replace(/[\uDC80-\uDCFF]/gu, escapeByte)

/** Encodes a path for a URL: `\xff` for a byte that isn't UTF-8, and `\\` for a backslash. */
export const encodePath = (path: string): string => displayName(path.replaceAll('\\', '\\\\'))

export const decodePath = (text: string): string =>
  text.replace(/\\(\\|x([89a-f][\da-f]))/g, (_, all: string, byte?: string) =>
    byte === undefined ? all : String.fromCharCode(0xdc00 + Number.parseInt(byte, 16)),
  )

const escapeByte = (surrogate: string) => `\\x${(surrogate.charCodeAt(0) - 0xdc00).toString(16)}`
