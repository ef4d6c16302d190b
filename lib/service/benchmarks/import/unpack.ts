import { closeSync, createWriteStream, fstatSync, mkdirSync, openSync, statfsSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32, inflateRawSync } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, validateFileName } from 'yauzl'
import { diskFull, isDiskFull } from '#lib/service/kit/errors.ts'
import { type ReadAt, readAhead, ZipReader } from './archive-reader.ts'
import { NoJobError } from './foreign-job.ts'

/** Unspecified: the maximum size of an unpacked archive. Ten thousand trials have some gigabytes. */
const maxBytes = 16 * 1024 ** 3
const maxEntries = 1_000_000
const smallBytes = 256 * 1024
const localHeaderBytes = 30
/** Other requests are served after this time. */
const turnMs = 10
const checkEveryBytes = 16 * 1024 * 1024
/** Free space an import leaves for all accounts; an eighth of the disk if that is less. */
const reservedBytes = 2 ** 30

export const requireRoom = (folder: string, bytes: number): void => {
  const { bavail, blocks, bsize } = statfsSync(folder)
  if (bavail * bsize - bytes < Math.min(reservedBytes, (blocks * bsize) / 8)) throw diskFull()
}
const maxNameLength = 1024

export interface Unpacked {
  skipped: number
  firstSkipped: string[]
  bytes: number
  /** By path. */
  sizes: Map<string, number>
}

/** Skips links, names that leave the folder and broken files. Throws a NoJobError, or 507 without disk space. */
export const unpack = async (file: string, folder: string, quotaBytes: number): Promise<Unpacked> => {
  const firstSkipped: string[] = []
  const sizes = new Map<string, number>()
  let skipped = 0
  const skip = (name: string, reason: string) => {
    skipped++
    if (firstSkipped.length < 10) firstSkipped.push(`${name}: ${reason}`)
  }
  let bytes = 0
  const archive = openSync(file, 'r')
  try {
    const zip = await fromRandomAccessReaderPromise(new ZipReader(archive), fstatSync(archive).size, {
      decodeStrings: false,
      autoClose: false,
    }).catch((error: Error) => {
      throw new NoJobError(`The file is not a zip archive: ${error.message}`)
    })
    const contents = readAhead(archive)
    let turnEndMs = 0
    let checkedBytes = 0
    if (zip.entryCount > maxEntries) throw new NoJobError(`The archive has more than ${maxEntries} files`)
    const made = new Set<string>()
    for await (const entry of zip.eachEntry()) {
      if (performance.now() > turnEndMs) {
        await nextTurn()
        turnEndMs = performance.now() + turnMs
      }
      const name = nameOf(entry)
      if (name.endsWith('/')) continue
      const skipReason = skipReasonOf(entry, name)
      if (skipReason) {
        skip(name, skipReason)
        continue
      }
      bytes += entry.uncompressedSize
      if (bytes > maxBytes) throw new NoJobError(`The archive unpacks to more than ${maxBytes / 1024 ** 3} GiB`)
      if (bytes > quotaBytes) break
      const path = join(folder, name)
      if (bytes > checkedBytes) {
        requireRoom(folder, entry.uncompressedSize + checkEveryBytes)
        checkedBytes = bytes + checkEveryBytes
      }
      try {
        const parent = dirname(path)
        if (!made.has(parent)) mkdirSync(parent, { recursive: true, mode: 0o700 })
        made.add(parent)
        // The first of two entries with the same name stays.
        if (isSmall(entry)) writeSmall(entry, path, contents)
        else
          await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
        sizes.set(path, entry.uncompressedSize)
      } catch (error) {
        const { code, path: where, message } = error as NodeJS.ErrnoException
        if (isDiskFull(error)) throw error
        const isTaken = ['EEXIST', 'ENOTDIR'].includes(code ?? '')
        if (!isTaken && code !== 'ENAMETOOLONG') await rm(path, { force: true, recursive: true })
        // The message of a file system error contains local paths.
        skip(
          name,
          isTaken ? 'another file has this name' : where === undefined ? message : `it cannot be created (${code})`,
        )
      }
    }
  } catch (error) {
    // The rest of the archive is broken; keep what came before.
    if (error instanceof NoJobError || isDiskFull(error)) throw error
    skip('the rest of the archive', (error as Error).message)
  } finally {
    closeSync(archive)
  }
  return { skipped, firstSkipped, bytes, sizes }
}

const isSmall = ({ compressedSize, uncompressedSize, compressionMethod }: Entry): boolean =>
  Math.max(compressedSize, uncompressedSize) <= smallBytes && (compressionMethod === 0 || compressionMethod === 8)

/** Streams cost more processor time than the content of a small file. */
const writeSmall = (entry: Entry, path: string, readAt: ReadAt): void => {
  const { compressedSize, uncompressedSize, compressionMethod, crc32: checksum, relativeOffsetOfLocalHeader } = entry
  const header = readAt(relativeOffsetOfLocalHeader, localHeaderBytes)
  if (header.length < localHeaderBytes || header.readUInt32LE(0) !== 0x04034b50)
    throw new Error('its header is damaged')
  const start = relativeOffsetOfLocalHeader + localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28)
  const stored = readAt(start, compressedSize)
  if (stored.length < compressedSize) throw new Error('the archive ends before the file does')
  const content = compressionMethod === 0 ? stored : inflateRawSync(stored, { maxOutputLength: smallBytes })
  if (content.length !== uncompressedSize || crc32(content) !== checksum) throw new Error('its content is damaged')
  writeFileSync(path, content, { flag: 'wx', mode: 0o600 })
}

const nameOf = ({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string =>
  getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true)

const skipReasonOf = (entry: Entry, name: string): string | undefined => {
  if (name.length > maxNameLength) return `its name is longer than ${maxNameLength} characters`
  if (name.includes('\0') || validateFileName(name) !== null) return 'its path leaves the archive'
  if (entry.isEncrypted()) return 'encrypted'
  const kind = (entry.externalFileAttributes >>> 16) & 0o170000
  return kind === 0 || kind === 0o100000 ? undefined : 'not a regular file'
}
