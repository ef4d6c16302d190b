import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { constants, crc32, deflateRawSync, deflateRaw as deflateRawWithCallback } from 'node:zlib'

export interface ZipEntry {
  /** Parts with `/` between them: no root, no `..`. Whoever gives it keeps names apart. */
  name: string
  modifiedMs: number
  /** What `content` has at most. */
  maxBytes: number
  /** Read once, before the next entry is asked for. A chunk holds until the next one is asked for. */
  content: AsyncIterable<Uint8Array>
}

/**
 * A zip of the entries, in their order, made while it is read; nothing is read ahead but a few blocks. Who stops reading
 * ends the entries too. Blocks are deflated apart, each with the end of the one before as its dictionary, so that two
 * processors work on one file; the result is one plain deflate stream.
 */
export async function* zip(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const source = blocksOf(entries)
  const waiting: Block[] = []
  const directory: Buffer[] = []
  let position = 0
  let compressedBytes = 0
  let member: Member | undefined
  let isSourceDone = false
  try {
    for (let written = 0; ; written++) {
      // One at first: the reader is to see its first byte soon.
      while (!isSourceDone && waiting.length < Math.min(maxAhead, written + 1)) {
        const next = await source.next()
        if (next.done) isSourceDone = true
        else waiting.push(next.value)
      }
      const block = waiting.shift()
      if (!block) break
      const bytes = await block.deflated
      const { entry, isLast, crc, size } = block
      let out = bytes
      if (!member) {
        // What is whole already says its sizes in front, which the simplest of readers understand.
        const isWhole = isLast
        member = {
          name: Buffer.from(entry.name),
          modifiedMs: entry.modifiedMs,
          position,
          isWhole,
          isLarge: entry.maxBytes > largestSmall,
        }
        compressedBytes = 0
        out = Buffer.concat([localHeader(member, { crc, size, compressedBytes: bytes.length }), bytes])
      }
      compressedBytes += bytes.length
      if (isLast) {
        const sums = { crc, size, compressedBytes }
        if (!member.isWhole) out = Buffer.concat([out, descriptor(member, sums)])
        directory.push(centralHeader(member, sums))
        member = undefined
      }
      position += out.length
      yield out
    }
    const start = position
    for (let i = 0; i < directory.length; i += 1000) {
      const records = Buffer.concat(directory.slice(i, i + 1000))
      position += records.length
      yield records
    }
    yield endOfDirectory({ entries: directory.length, start, size: position - start })
  } finally {
    await source.return(undefined)
  }
}

// Large enough that cutting a file costs nothing (0.1 % of its size), small enough that a few are no memory to speak of.
const blockBytes = 512 * 1024
// As far back as deflate can refer.
const windowBytes = 32 * 1024
const maxAhead = 4

const deflateRaw = promisify(deflateRawWithCallback)
// What deflate makes of nothing.
const empty = Buffer.of(3, 0)

interface Block {
  entry: ZipEntry
  deflated: Promise<Buffer>
  isLast: boolean
  /** Of the entry so far. */
  crc: number
  size: number
}

/** Cuts the entries into blocks and begins to deflate each. */
async function* blocksOf(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Block, void> {
  const free: Buffer[] = []
  const takeBuffer = () => free.pop() ?? Buffer.allocUnsafeSlow(windowBytes + blockBytes)
  for await (const entry of entries) {
    let buffer = takeBuffer()
    let known = 0
    let filled = 0
    let crc = 0
    let size = 0
    const finish = (isLast: boolean): Block => {
      const taken = buffer
      const data = taken.subarray(windowBytes, windowBytes + filled)
      crc = crc32(data, crc)
      size += filled
      const deflated =
        size === 0 ? Promise.resolve(empty) : deflate(data, taken.subarray(windowBytes - known, windowBytes), isLast)
      // Who stops reading does not wait for what is under way.
      deflated.then(
        () => free.push(taken),
        () => undefined,
      )
      return { entry, deflated, isLast, crc, size }
    }
    for await (const chunk of entry.content) {
      for (let start = 0; start < chunk.length; ) {
        if (filled === blockBytes) {
          const before = buffer
          yield finish(false)
          buffer = takeBuffer()
          before.copy(buffer, 0, blockBytes, windowBytes + blockBytes)
          known = windowBytes
          filled = 0
        }
        const part = chunk.subarray(start, start + blockBytes - filled)
        buffer.set(part, windowBytes + filled)
        filled += part.length
        start += part.length
      }
    }
    yield finish(true)
  }
}

// Files are read by the same four threads, which the whole service shares.
const maxDeflating = Math.max(1, Math.min(3, availableParallelism()))
let deflating = 0
const turns: (() => void)[] = []

// Half a millisecond at most. On a thread, the way there and back would cost more.
const smallBytes = 16 * 1024

const deflate = async (data: Buffer, dictionary: Buffer, isLast: boolean): Promise<Buffer> => {
  if (data.length === 0 && dictionary.length === 0) return empty
  // zlib clears its tables for every call: for small files small ones.
  const windowBits = dictionary.length > 0 ? 15 : Math.min(15, Math.max(9, 33 - Math.clz32(data.length)))
  const options = {
    level: 6,
    windowBits,
    memLevel: Math.min(8, windowBits - 7),
    chunkSize: Math.max(1024, Math.min(128 * 1024, data.length >> 1)),
    finishFlush: isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH,
    ...(dictionary.length > 0 && { dictionary }),
  }
  if (data.length <= smallBytes) return deflateRawSync(data, options)
  if (deflating === maxDeflating) await new Promise<void>((resolve) => turns.push(resolve))
  else deflating++
  try {
    return await deflateRaw(data, options)
  } finally {
    const next = turns.shift()
    if (next) next()
    else deflating--
  }
}

interface Member {
  name: Buffer
  modifiedMs: number
  position: number
  /** Its sums are in its local header, not behind its data. */
  isWhole: boolean
  /** Its sizes may need 64 bits. */
  isLarge: boolean
}

interface Sums {
  crc: number
  size: number
  compressedBytes: number
}

// What follows is the format as PKWARE's APPNOTE 6.3 has it. Deflate makes nothing larger by as much as is left here.
const largestSmall = 0xf0000000
const max32 = 0xffffffff
const max16 = 0xffff
const flagsOf = ({ isWhole }: Member) => (1 << 11) | (isWhole ? 0 : 1 << 3)
const versionOf = (isLarge: boolean) => (isLarge ? 45 : 20)
const deflated = 8

const localHeader = (member: Member, sums: Sums): Buffer => {
  const { crc, size, compressedBytes } = member.isWhole ? sums : { crc: 0, size: 0, compressedBytes: 0 }
  const extra = Buffer.concat([
    timeExtra(member),
    ...(member.isLarge && !member.isWhole ? [largeExtra([size, compressedBytes])] : []),
  ])
  const sizes = member.isLarge && !member.isWhole ? [max32, max32] : [compressedBytes, size]
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(versionOf(member.isLarge), 4)
  head.writeUInt16LE(flagsOf(member), 6)
  head.writeUInt16LE(deflated, 8)
  head.writeUInt32LE(dosTime(member.modifiedMs), 10)
  head.writeUInt32LE(crc, 14)
  head.writeUInt32LE(sizes[0] as number, 18)
  head.writeUInt32LE(sizes[1] as number, 22)
  head.writeUInt16LE(member.name.length, 26)
  head.writeUInt16LE(extra.length, 28)
  return Buffer.concat([head, member.name, extra])
}

const descriptor = ({ isLarge }: Member, { crc, size, compressedBytes }: Sums): Buffer => {
  const bytes = Buffer.alloc(isLarge ? 24 : 16)
  bytes.writeUInt32LE(0x08074b50, 0)
  bytes.writeUInt32LE(crc, 4)
  if (isLarge) {
    bytes.writeBigUInt64LE(BigInt(compressedBytes), 8)
    bytes.writeBigUInt64LE(BigInt(size), 16)
  } else {
    bytes.writeUInt32LE(compressedBytes, 8)
    bytes.writeUInt32LE(size, 12)
  }
  return bytes
}

const centralHeader = (member: Member, { crc, size, compressedBytes }: Sums): Buffer => {
  const large = [size, compressedBytes, member.position].filter((each) => each >= max32)
  const extra = Buffer.concat([timeExtra(member), ...(large.length > 0 ? [largeExtra(large)] : [])])
  const head = Buffer.alloc(46)
  head.writeUInt32LE(0x02014b50, 0)
  // Made on Unix: the upper half of the attributes are its permissions.
  head.writeUInt16LE((3 << 8) | 63, 4)
  head.writeUInt16LE(versionOf(member.isLarge || large.length > 0), 6)
  head.writeUInt16LE(flagsOf(member), 8)
  head.writeUInt16LE(deflated, 10)
  head.writeUInt32LE(dosTime(member.modifiedMs), 12)
  head.writeUInt32LE(crc, 16)
  head.writeUInt32LE(Math.min(compressedBytes, max32), 20)
  head.writeUInt32LE(Math.min(size, max32), 24)
  head.writeUInt16LE(member.name.length, 28)
  head.writeUInt16LE(extra.length, 30)
  head.writeUInt32LE((0o100644 << 16) >>> 0, 38)
  head.writeUInt32LE(Math.min(member.position, max32), 42)
  return Buffer.concat([head, member.name, extra])
}

const endOfDirectory = ({ entries, start, size }: { entries: number; start: number; size: number }): Buffer => {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(entries, max16), 8)
  end.writeUInt16LE(Math.min(entries, max16), 10)
  end.writeUInt32LE(Math.min(size, max32), 12)
  end.writeUInt32LE(Math.min(start, max32), 16)
  if (entries < max16 && size < max32 && start < max32) return end
  const large = Buffer.alloc(76)
  large.writeUInt32LE(0x06064b50, 0)
  large.writeBigUInt64LE(44n, 4)
  large.writeUInt16LE((3 << 8) | 63, 12)
  large.writeUInt16LE(45, 14)
  large.writeBigUInt64LE(BigInt(entries), 24)
  large.writeBigUInt64LE(BigInt(entries), 32)
  large.writeBigUInt64LE(BigInt(size), 40)
  large.writeBigUInt64LE(BigInt(start), 48)
  // Where it is, for readers that come from the end.
  large.writeUInt32LE(0x07064b50, 56)
  large.writeBigUInt64LE(BigInt(start + size), 64)
  large.writeUInt32LE(1, 72)
  return Buffer.concat([large, end])
}

const largeExtra = (numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(4 + 8 * numbers.length)
  bytes.writeUInt16LE(0x0001, 0)
  bytes.writeUInt16LE(8 * numbers.length, 2)
  for (const [i, number] of numbers.entries()) bytes.writeBigUInt64LE(BigInt(number), 4 + 8 * i)
  return bytes
}

/** The exact second, in UTC; the format's own field has neither. */
const timeExtra = ({ modifiedMs }: Member): Buffer => {
  const bytes = Buffer.alloc(9)
  bytes.writeUInt16LE(0x5455, 0)
  bytes.writeUInt16LE(5, 2)
  bytes.writeUInt8(1, 4)
  bytes.writeInt32LE(Math.min(0x7fffffff, Math.max(0, Math.floor(modifiedMs / 1000))), 5)
  return bytes
}

const dosTime = (ms: number): number => {
  const earliest = Date.UTC(1980, 0, 1)
  const latest = Date.UTC(2107, 11, 31, 23, 59, 58)
  const date = new Date(Math.min(latest, Math.max(earliest, ms)))
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate()
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1)
  return day * 0x10000 + time
}
