import { crc32 } from 'node:zlib'
import { type Entry, fromFdPromise, getFileNameLowLevel, validateFileName, type ZipFile } from 'yauzl'
import type { RunLogFile } from '#lib/protocol/run-logs.ts'
import { HttpError } from '../http/handle-request.ts'

export interface ArchiveLimits {
  fileBytes: number
  entries: number
}

const maxNameLength = 1024
const maxNamedLeftOut = 100

/** Reads an untrusted zip: names are only labels, unpacked sizes are bounded, and checksums are verified. */
export class ArchiveFiles {
  readonly sizeBytes: number
  readonly files: readonly RunLogFile[]
  readonly leftOut: { count: number; first: { name: string; reason: string }[] }
  readonly #zip: ZipFile
  readonly #fileBytes: number
  readonly #entries: ReadonlyMap<string, Entry>

  private constructor(
    zip: ZipFile,
    sizeBytes: number,
    fileBytes: number,
    read: Awaited<ReturnType<typeof readDirectory>>,
  ) {
    this.#zip = zip
    this.sizeBytes = sizeBytes
    this.#fileBytes = fileBytes
    this.files = read.files
    this.leftOut = read.leftOut
    this.#entries = read.entries
  }

  static async open(file: number, sizeBytes: number, limits: ArchiveLimits): Promise<ArchiveFiles> {
    try {
      const zip = await fromFdPromise(file, { decodeStrings: false, autoClose: false })
      return new ArchiveFiles(zip, sizeBytes, limits.fileBytes, await readDirectory(zip, limits))
    } catch (error) {
      throw new HttpError(
        'bad_upstream',
        `The service returned an incomplete or invalid zip archive: ${(error as Error).message}`,
      )
    }
  }

  close(): void {
    this.#zip.close()
  }

  find(path: string): RunLogFile | undefined {
    return this.files.find((file) => file.path === path)
  }

  refusalOf({ path, size_bytes, refusal }: RunLogFile): HttpError {
    return new HttpError(size_bytes > this.#fileBytes ? 'payload_too_large' : 'not_implemented', `${path} ${refusal}`)
  }

  /** Bytes `start` to before `end` of a file. */
  async piece(file: RunLogFile, start: number, end: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    let at = 0
    for await (const bytes of this.whole(file)) {
      const from = Math.max(start - at, 0)
      if (from < bytes.length && at < end) pieces.push(bytes.subarray(from, end - at))
      at += bytes.length
      // Reads to the end to verify the checksum.
      if (at >= end && end < file.size_bytes) break
    }
    return Buffer.concat(pieces)
  }

  /** Throws if the file does not match its directory entry. */
  async *whole(file: RunLogFile): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(file.path)
    if (file.refusal !== null || !entry) throw this.refusalOf(file)
    let sum = 0
    // Holds back the last bytes until the checksum is verified: a damaged file must not look complete.
    let last: Buffer | undefined
    try {
      for await (const bytes of await this.#zip.openReadStreamPromise(entry)) {
        if (last) yield last
        last = bytes as Buffer
        sum = crc32(last, sum)
      }
    } catch (error) {
      if (error instanceof HttpError) throw error
      throw new HttpError('bad_upstream', `${file.path} cannot be unpacked: ${(error as Error).message}`)
    }
    if (sum !== entry.crc32) throw new HttpError('bad_upstream', `${file.path} is damaged: its checksum doesn't match`)
    if (last) yield last
  }
}

const readDirectory = async (zip: ZipFile, limits: ArchiveLimits) => {
  const files: RunLogFile[] = []
  const entries = new Map<string, Entry>()
  const leftOut: ArchiveFiles['leftOut'] = { count: 0, first: [] }
  const leave = (name: string, reason: string) => {
    leftOut.count++
    if (leftOut.first.length < maxNamedLeftOut) leftOut.first.push({ name: name.slice(0, 200), reason })
  }
  let count = 0
  for await (const entry of zip.eachEntry()) {
    if (count++ === limits.entries) {
      leftOut.first.unshift({ name: '…', reason: `the console lists no more than ${limits.entries} entries` })
      leftOut.count += Math.max(1, zip.entryCount - limits.entries)
      break
    }
    const path = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true)
    if (path.endsWith('/') && entry.uncompressedSize === 0 && nameProblem(path.slice(0, -1)) === null) continue
    const problem = entries.has(path) ? 'another entry has the same name' : (nameProblem(path) ?? kindProblem(entry))
    if (problem !== null) {
      leave(path, problem)
      continue
    }
    entries.set(path, entry)
    files.push({
      path,
      size_bytes: entry.uncompressedSize,
      packed_bytes: entry.compressedSize,
      modified_ms: timeOf(entry),
      version: `${entry.crc32.toString(16)}-${entry.uncompressedSize.toString(16)}`,
      refusal: whyClosed(entry, limits),
    })
  }
  return { files, entries, leftOut }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
const control = /[\x00-\x1f\x7f-\x9f]/

const nameProblem = (path: string): string | null => {
  if (path === '' || path.length > maxNameLength) return `its name is empty or longer than ${maxNameLength} characters`
  if (validateFileName(path) !== null) return 'its path leaves the archive'
  if (control.test(path)) return 'its name contains control characters'
  return path.split('/').some((part) => part === '' || part === '.') ? 'its name has parts without a name' : null
}

/** The Unix file type in the entry's high bits: unset or a regular file. */
const kindProblem = ({ versionMadeBy, externalFileAttributes }: Entry): string | null => {
  const isOfUnix = versionMadeBy >> 8 === 3
  const type = (externalFileAttributes >>> 28) & 0xf
  return isOfUnix && type !== 0 && type !== 8 ? 'it is a link or a device, not a file' : null
}

const whyClosed = (entry: Entry, { fileBytes }: ArchiveLimits): string | null => {
  if (entry.isEncrypted()) return 'is encrypted'
  if (!entry.canDecodeFileData())
    return `uses compression method ${entry.compressionMethod}, which the console doesn't support`
  if (entry.uncompressedSize <= fileBytes) return null
  return `has ${entry.uncompressedSize} bytes unpacked; the console unpacks files of up to ${fileBytes}`
}

const timeOf = (entry: Entry): number | null => {
  const ms = entry.getLastModDate({ timezone: 'UTC' }).getTime()
  return Number.isFinite(ms) && ms > 0 ? ms : null
}
