import { closeSync, createWriteStream, openSync, readSync, statfsSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { crc32, inflateRawSync } from 'node:zlib'
import { type Entry, getFileNameLowLevel, openPromise, validateFileName, type ZipFile } from 'yauzl'
import { diskFull, isDiskFull } from '#lib/service/kit/errors.ts'
import { NoJobError } from './foreign-job.ts'

/** Unspecified: the maximum size of an unpacked archive. Ten thousand trials have some gigabytes. */
const maxBytes = 16 * 1024 ** 3
const maxEntries = 1_000_000
const smallBytes = 256 * 1024
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
  const zip = await openPromise(file, { decodeStrings: false, autoClose: false }).catch((error: Error) => {
    throw new NoJobError(`The file is not a zip archive: ${error.message}`)
  })
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
    if (zip.entryCount > maxEntries) throw new NoJobError(`The archive has more than ${maxEntries} files`)
    const made = new Set<string>()
    for await (const entry of zip.eachEntry()) {
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
      requireRoom(folder, entry.uncompressedSize)
      try {
        const parent = dirname(path)
        if (!made.has(parent)) await mkdir(parent, { recursive: true, mode: 0o700 })
        made.add(parent)
        // The first of two entries with the same name stays.
        if (isSmall(entry)) await writeSmall(zip, entry, path, archive)
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
    zip.close()
    closeSync(archive)
  }
  return { skipped, firstSkipped, bytes, sizes }
}

const isSmall = ({ compressedSize, uncompressedSize, compressionMethod }: Entry): boolean =>
  Math.max(compressedSize, uncompressedSize) <= smallBytes && (compressionMethod === 0 || compressionMethod === 8)

/** Streams cost more processor time than the content of a small file. */
const writeSmall = async (zip: ZipFile, entry: Entry, path: string, archive: number): Promise<void> => {
  const { compressedSize, uncompressedSize, compressionMethod, crc32: checksum } = entry
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true })
  const stored = Buffer.allocUnsafe(compressedSize)
  if (readSync(archive, stored, 0, compressedSize, fileDataStart) < compressedSize)
    throw new Error('the archive ends before the file does')
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
