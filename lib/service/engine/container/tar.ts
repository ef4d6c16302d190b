export interface TarEntry {
  path: string
  /** A folder if missing. */
  content?: string
  mode: number
  uid?: number
  gid?: number
}

/** Writes a tar archive of short paths. */
export const tar = (entries: readonly TarEntry[]): Buffer =>
  Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(2 * blockBytes)])

const blockBytes = 512

const blocksOf = ({ path, content, mode, uid = 0, gid = 0 }: TarEntry): Buffer[] => {
  const name = path.replace(/^\//, '') + (content === undefined ? '/' : '')
  const data = Buffer.from(content ?? '')
  const header = tarHeader({ name, size: data.length, mode, uid, gid, modifiedMs: Date.now() })
  return [header, data, tarPadding(data.length)]
}

interface TarHeader {
  /** Ends with a slash if it is a folder. */
  name: string
  size: number
  mode: number
  uid?: number
  gid?: number
  modifiedMs?: number
}

export const tarHeader = ({ name, size, mode, uid = 0, gid = 0, modifiedMs = 0 }: TarHeader): Buffer => {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long for a tar header`)
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at)
  header.write(name)
  octal(mode, 100, 8)
  octal(uid, 108, 8)
  octal(gid, 116, 8)
  octal(size, 124, 12)
  octal(Math.floor(modifiedMs / 1000), 136, 12)
  header.write(name.endsWith('/') ? '5' : '0', 156)
  header.write('ustar\x0000', 257)
  header.fill(' ', 148, 156)
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return header
}

export const tarPadding = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)

/** Returns the first regular file of a tar archive. */
export const firstFile = (archive: Buffer): string | undefined => {
  for (let at = 0; at + blockBytes <= archive.length; ) {
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8) || 0
    const type = archive.toString('latin1', at + 156, at + 157)
    const start = at + blockBytes
    if (type === '0' || type === '\0') return archive.toString('utf8', start, start + size)
    at = start + Math.ceil(size / blockBytes) * blockBytes
  }
  return undefined
}
