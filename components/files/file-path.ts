/**
 * Paths of a devbox as strings. A name on Linux is bytes: one that is no UTF-8 has a lone surrogate for each byte that
 * is not (U+DCFF for 0xFF), so that every name has one string and every such string one name.
 */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const foreign = /[\uDC80-\uDCFF]/gu

export const decodeName = (bytes: Uint8Array): string => {
  const whole = decoded(bytes)
  if (whole !== null) return whole
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const length = lengthOf(bytes[at] as number)
    const character = decoded(bytes.subarray(at, at + length))
    if (character === null) text += String.fromCharCode(0xdc00 + (bytes[at] as number))
    else text += character
    at += character === null ? 1 : length
  }
  return text
}

const decoded = (bytes: Uint8Array): string | null => {
  try {
    return strict.decode(bytes)
  } catch {
    return null
  }
}

/** Of a character in UTF-8 by its first byte. */
const lengthOf = (first: number): number => (first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4)

/** Whether a call of the service can name it: the paths of calls are UTF-8. */
export const isUtf8 = (path: string): boolean => path.isWellFormed()

/** For people: a byte that is no UTF-8 as `\xff`. */
export const nameWords = (name: string): string => name.replace(foreign, byteWords)

/** For an address, which cannot hold such a byte: as for people, and a backslash doubled so that it reads back as it was. */
export const pathText = (path: string): string => nameWords(path.replaceAll('\\', '\\\\'))

export const pathOfText = (text: string): string =>
  text.replace(/\\(\\|x([89a-f][\da-f]))/g, (_, all: string, byte?: string) =>
    byte === undefined ? all : String.fromCharCode(0xdc00 + Number.parseInt(byte, 16)),
  )

const byteWords = (surrogate: string) => `\\x${(surrogate.charCodeAt(0) - 0xdc00).toString(16)}`

/** A word of a POSIX shell that stands for exactly this text. */
export const shellWord = (text: string): string =>
  `'${text.replaceAll("'", "'\\''")}'`.replace(/[\uDC80-\uDCFF]+/gu, (surrogates) => {
    const octal = [...surrogates].map((each) => `\\${(each.charCodeAt(0) - 0xdc00).toString(8)}`)
    return `'"$(printf '${octal.join('')}')"'`
  })

/** The same for a path as the service reads paths: relative to the home folder, absolute, or below `~`. */
export const shellPath = (path: string): string => {
  if (path === '~' || path === '') return '"$HOME"'
  if (path.startsWith('/')) return shellWord(path)
  return `"$HOME"/${shellWord(path.replace(/^~\//, ''))}`
}

/** The folder a path is in; the root is in itself. */
export const parentOf = (path: string): string => path.replace(/\/+$/, '').replace(/\/[^/]*$/, '') || '/'

export const nameIn = (path: string): string => path.replace(/\/+$/, '').replace(/^.*\//s, '')

/** A path of the absolute `folder`. */
export const within = (folder: string, name: string): string => `${folder === '/' ? '' : folder}/${name}`

export interface Crumb {
  name: string
  path: string
}

/** The folders that lead to `path`, itself included: from the root, or from home for a path below it. */
export const crumbsOf = (path: string): Crumb[] => {
  const isAbsolute = path.startsWith('/')
  const names = path.split('/').filter((name, index) => name !== '' && !(index === 0 && name === '~'))
  const base = isAbsolute ? '/' : '~/'
  return [
    ...(isAbsolute ? [{ name: '/', path: '/' }] : []),
    ...names.map((name, index) => ({ name, path: base + names.slice(0, index + 1).join('/') })),
  ]
}

/** Linux takes no longer name. */
const maxNameBytes = 255

/** Why no file can be named so, or null when one can. */
export const nameRefusal = (name: string): string | null => {
  if (name === '') return 'type a name'
  if (name === '.' || name === '..') return `${name} stands for a folder that is there already`
  if (name.includes('/')) return 'a name has no slash'
  if (name.includes('\0')) return 'a name has no NUL character'
  const bytes = new TextEncoder().encode(name).length
  return bytes > maxNameBytes ? `a name has at most ${maxNameBytes} bytes; this one has ${bytes}` : null
}
