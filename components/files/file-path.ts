/** A byte of a name that isn't UTF-8 becomes a lone surrogate (U+DCFF for 0xFF), which maps back to the byte. */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

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

const lengthOf = (first: number): number => (first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4)

/** The API accepts only UTF-8 paths. */
export const isUtf8 = (path: string): boolean => path.isWellFormed()

/** The parent of the root is the root. */
export const parentPath = (path: string): string => path.replace(/\/+$/, '').replace(/\/[^/]*$/, '') || '/'

export const baseName = (path: string): string => path.replace(/\/+$/, '').replace(/^.*\//s, '')

export const joinPath = (folder: string, name: string): string => `${folder === '/' ? '' : folder}/${name}`

/** Resolves a relative link from a folder, without going above the root or the home folder. */
export const resolvePath = (folder: string, path: string): string => {
  if (path.startsWith('/')) return path
  const [base, prefix] = folder.startsWith('/') ? [folder, '/'] : [folder.replace(/^~\/?/, ''), '~/']
  const names: string[] = []
  for (const name of `${base}/${path}`.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return prefix + names.join('/') + (path.endsWith('/') && names.length > 0 ? '/' : '')
}

export interface Crumb {
  name: string
  path: string
}

export const breadcrumbs = (path: string): Crumb[] => {
  const isAbsolute = path.startsWith('/')
  const names = path.split('/').filter((name, index) => name !== '' && !(index === 0 && name === '~'))
  const base = isAbsolute ? '/' : '~/'
  return [
    ...(isAbsolute ? [{ name: '/', path: '/' }] : []),
    ...names.map((name, index) => ({ name, path: base + names.slice(0, index + 1).join('/') })),
  ]
}

const maxNameBytes = 255

export const nameProblem = (name: string): string | null => {
  if (name === '') return 'enter a name'
  if (name === '.' || name === '..') return `${name} is reserved`
  if (name.includes('/')) return "names can't contain a slash"
  if (name.includes('\0')) return "names can't contain a NUL character"
  const bytes = new TextEncoder().encode(name).length
  return bytes > maxNameBytes ? `names are limited to ${maxNameBytes} bytes; this one has ${bytes}` : null
}
