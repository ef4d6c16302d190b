import { createWriteStream, statfsSync } from 'node:fs'
import { mkdir, rm, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Entry, getFileNameLowLevel, openPromise, validateFileName } from 'yauzl'
import { diskFull, isDiskFull } from '#lib/service/kit/errors.ts'
import { NoJobError } from './foreign-job.ts'

/** Unspecified: what an archive may come to on the disk. A job of ten thousand trials has some gigabytes. */
const maxBytes = 16 * 1024 ** 3
const maxEntries = 1_000_000
/** What an import leaves free on the disk, which all accounts share, or an eighth of the disk where that is less. */
const leftFreeBytes = 2 ** 30

/** Throws 507 unless an import may write so many bytes more. */
export const requireRoom = (folder: string, bytes: number): void => {
  const { bavail, blocks, bsize } = statfsSync(folder)
  if (bavail * bsize - bytes < Math.min(leftFreeBytes, (blocks * bsize) / 8)) throw diskFull()
}
const maxNameLength = 1024

/**
 * Writes the files of a zip that is not trusted below `folder`. Links, names that lead elsewhere and files that are
 * broken are left out; they are counted, and the first few named. Throws a NoJobError for what is no zip or too much,
 * and 507 where the disk has no room for it.
 */
export const unpack = async (
  file: string,
  folder: string,
  mostBytes: number,
): Promise<{ leftOut: number; first: string[]; bytes: number }> => {
  const zip = await openPromise(file, { decodeStrings: false, autoClose: false }).catch((error: Error) => {
    throw new NoJobError(`The file is no zip archive: ${error.message}`)
  })
  const first: string[] = []
  let leftOut = 0
  const leave = (name: string, reason: string) => {
    leftOut++
    if (first.length < 10) first.push(`${name}: ${reason}`)
  }
  let bytes = 0
  try {
    if (zip.entryCount > maxEntries) throw new NoJobError(`The archive has more than ${maxEntries} files`)
    const made = new Set<string>()
    for await (const entry of zip.eachEntry()) {
      const name = nameOf(entry)
      if (name.endsWith('/')) continue
      const refusal = refusalOf(entry, name)
      if (refusal) {
        leave(name, refusal)
        continue
      }
      // What is unpacked is held to this size by the reader.
      bytes += entry.uncompressedSize
      if (bytes > maxBytes) throw new NoJobError(`The archive unpacks to more than ${maxBytes / 1024 ** 3} GiB`)
      // The caller says what the account keeps; a larger archive is not written to the disk first.
      if (bytes > mostBytes) break
      const path = join(folder, name)
      requireRoom(folder, entry.uncompressedSize)
      try {
        const parent = dirname(path)
        if (!made.has(parent)) await mkdir(parent, { recursive: true, mode: 0o700 })
        made.add(parent)
        // Two entries of one name: the first one stays.
        await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
        // The archive of a run tells by the time of this file when the run ended.
        if (name === 'results.json') await utimes(path, entry.getLastModDate(), entry.getLastModDate())
      } catch (error) {
        const { code, path: where, message } = error as NodeJS.ErrnoException
        if (isDiskFull(error)) throw error
        const isTaken = ['EEXIST', 'ENOTDIR'].includes(code ?? '')
        // Not of a name that is too long for a file, which nothing was made of.
        if (!isTaken && code !== 'ENAMETOOLONG') await rm(path, { force: true, recursive: true })
        // The message of the file system tells where on this machine that was.
        leave(
          name,
          isTaken ? 'another file has its name' : where === undefined ? message : `it cannot be made (${code})`,
        )
      }
    }
  } catch (error) {
    // The directory of the archive is broken further on: what came before is there.
    if (error instanceof NoJobError || isDiskFull(error)) throw error
    leave('the rest of the archive', (error as Error).message)
  } finally {
    zip.close()
  }
  return { leftOut, first, bytes }
}

const nameOf = ({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string =>
  getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true)

const refusalOf = (entry: Entry, name: string): string | undefined => {
  if (name.length > maxNameLength) return `its name has more than ${maxNameLength} characters`
  if (name.includes('\0') || validateFileName(name) !== null) return 'its name leads out of the archive'
  if (entry.isEncrypted()) return 'it is encrypted'
  const kind = (entry.externalFileAttributes >>> 16) & 0o170000
  return kind === 0 || kind === 0o100000 ? undefined : 'it is no file'
}
