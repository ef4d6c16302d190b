import { closeSync, fstatSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'

export interface StoredFile {
  /** Relative path without `..`, unique in the archive. */
  name: string
  /** A descriptor, closed after reading. */
  file: number
}

const chunkBytes = 1024 * 1024

/**
 * Yields an uncompressed zip in chunks of about 1 MB. For a job's 100,000 small files, yazl takes longer to find the
 * next entry than to write it.
 */
export function* storedZip(files: Iterable<StoredFile>): Generator<Buffer> {
  const directory: Buffer[] = []
  let offset = 0
  let parts: Buffer[] = []
  let pendingBytes = 0
  const add = (part: Buffer) => {
    parts.push(part)
    pendingBytes += part.length
    offset += part.length
  }
  const take = (): Buffer => {
    const chunk = Buffer.concat(parts)
    parts = []
    pendingBytes = 0
    return chunk
  }
  for (const { name, file } of files) {
    const encodedName = Buffer.from(name)
    const start = offset
    let checksum = 0
    let sizeBytes = 0
    try {
      const expectedBytes = fstatSync(file).size
      add(localHeader(encodedName))
      while (sizeBytes < expectedBytes) {
        const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, expectedBytes - sizeBytes))
        const content = buffer.subarray(0, readSync(file, buffer))
        if (content.length === 0) break
        checksum = crc32(content, checksum)
        sizeBytes += content.length
        add(content)
        if (pendingBytes >= chunkBytes) yield take()
      }
    } finally {
      closeSync(file)
    }
    add(dataDescriptor(checksum, sizeBytes))
    directory.push(directoryRecord(encodedName, { checksum, sizeBytes, start }))
  }
  const directoryStart = offset
  for (const record of directory) {
    add(record)
    if (pendingBytes >= chunkBytes) yield take()
  }
  add(endRecords(directory.length, directoryStart, offset - directoryStart))
  yield take()
}

const version = 45
/** A data descriptor follows the content; the name is UTF-8. */
const flags = 0x0808
/** The value is in the zip64 fields. */
const unset16 = 0xffff
const unset32 = 0xffffffff
const regularFile = 0o100644 << 16

const record = (signature: number, ...fields: (readonly [bytes: 2 | 4 | 8, value: number])[]): Buffer => {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 4))
  let at = buffer.writeUInt32LE(signature)
  for (const [bytes, value] of fields)
    at = bytes === 8 ? buffer.writeBigUInt64LE(BigInt(value), at) : buffer.writeUIntLE(value, at, bytes)
  return buffer
}

const u16 = (value: number) => [2, value] as const
const u32 = (value: number) => [4, value] as const
const u64 = (value: number) => [8, value] as const

// Version, flags, method, time, date, checksum, sizes, lengths of name and extra fields.
const localHeader = (name: Buffer): Buffer =>
  Buffer.concat([
    record(0x04034b50, ...[version, flags, 0, 0, 0].map(u16), ...[0, 0, 0].map(u32), u16(name.length), u16(0)),
    name,
  ])

const dataDescriptor = (checksum: number, sizeBytes: number): Buffer =>
  record(0x08074b50, u32(checksum), u64(sizeBytes), u64(sizeBytes))

const directoryRecord = (
  name: Buffer,
  { checksum, sizeBytes, start }: { checksum: number; sizeBytes: number; start: number },
): Buffer =>
  Buffer.concat([
    record(
      0x02014b50,
      ...[(3 << 8) | version, version, flags, 0, 0, 0].map(u16),
      ...[checksum, unset32, unset32].map(u32),
      // Name, extra fields, comment, disk, internal attributes.
      ...[name.length, 28, 0, 0, 0].map(u16),
      u32(regularFile >>> 0),
      u32(unset32),
    ),
    name,
    record(0x0018_0001, u64(sizeBytes), u64(sizeBytes), u64(start)),
  ])

const endRecords = (count: number, start: number, sizeBytes: number): Buffer =>
  Buffer.concat([
    record(
      0x06064b50,
      u64(44),
      u16(version),
      u16(version),
      u32(0),
      u32(0),
      ...[count, count, sizeBytes, start].map(u64),
    ),
    record(0x07064b50, u32(0), u64(start + sizeBytes), u32(1)),
    record(0x06054b50, ...Array(4).fill(unset16).map(u16), u32(unset32), u32(unset32), u16(0)),
  ])
