import { constants, existsSync } from 'node:fs'
import { type FileHandle, open, opendir } from 'node:fs/promises'

export interface LogFile {
  path: string[]
  modifiedMs: number
  /** Read it before requesting the next file. Stops at the file's size when it was found. */
  content: AsyncIterable<Uint8Array>
}

interface FoundFile extends LogFile {
  sizeBytes: number
}

type Omit = (path: string[], reason: string) => void

/** Unspecified: the maximum number of entries per folder. */
const maxEntriesPerFolder = 10_000
const maxDepth = 64
const readBytes = 256 * 1024

/** Yields regular files. A devbox may change the folder, so entries are opened by their parent, never by a link. */
export async function* filesBelow(
  folder: string,
  omit: Omit,
  entriesPerFolder = maxEntriesPerFolder,
): AsyncGenerator<FoundFile> {
  const handle = await open(folder, constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(undefinedIfMissing)
  if (handle) yield* walk({ handle, location: folder }, [], omit, entriesPerFolder)
}

interface Folder {
  handle: FileHandle
  location: string
}

async function* walk(folder: Folder, path: string[], omit: Omit, maxEntries: number): AsyncGenerator<FoundFile> {
  try {
    for (const name of await namesIn(folder, path, omit, maxEntries)) {
      const below = [...path, name.toString()]
      const location = Buffer.concat([Buffer.from(`${openPath(folder)}/`), name])
      // NONBLOCK: opening a FIFO without a writer would hang.
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
      const handle = await open(location, flags).catch((error: NodeJS.ErrnoException) => {
        omit(below, reasons[error.code ?? ''] ?? 'cannot be read')
      })
      if (!handle) continue
      const stats = await handle.stat()
      if (stats.isDirectory() && below.length < maxDepth) {
        yield* walk({ handle, location: location.toString() }, below, omit, maxEntries)
        continue
      }
      try {
        if (stats.isFile())
          yield { path: below, modifiedMs: stats.mtimeMs, sizeBytes: stats.size, content: read(handle, stats.size) }
        else omit(below, stats.isDirectory() ? 'nested too deep' : 'not a regular file')
      } finally {
        await handle.close()
      }
    }
  } finally {
    await folder.handle.close()
  }
}

// Without /proc the path is opened again, and a replaced folder could lead elsewhere.
const hasProc = existsSync('/proc/self/fd')
const openPath = ({ handle, location }: Folder) => (hasProc ? `/proc/self/fd/${handle.fd}` : location)

const namesIn = async (folder: Folder, path: string[], omit: Omit, maxEntries: number): Promise<Buffer[]> => {
  const names: Buffer[] = []
  // The types do not know that names can be buffers.
  for await (const entry of await opendir(openPath(folder), { encoding: 'buffer' as 'utf8', bufferSize: 256 })) {
    if (names.length === maxEntries) {
      omit([...path, '…'], `more than ${maxEntries} entries in one folder`)
      break
    }
    names.push(entry.name as unknown as Buffer)
  }
  return names.sort(Buffer.compare)
}

async function* read(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const buffer = Buffer.allocUnsafe(Math.min(readBytes, size - position))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

const reasons: Record<string, string> = {
  ELOOP: 'a symbolic link',
  ENOENT: 'removed meanwhile',
  ENXIO: 'not a regular file',
  EACCES: 'permission denied',
}

const undefinedIfMissing = (error: NodeJS.ErrnoException) => {
  // A link or a file instead of the folder.
  if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(error.code ?? '')) return undefined
  throw error
}
