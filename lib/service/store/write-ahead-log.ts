import { closeSync, copyFileSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { countOf } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { inspectDatabase } from './database.ts'
import type { LostAndFound } from './lost-and-found.ts'

// https://sqlite.org/fileformat2.html: the database header, the write-ahead log and its index.
const logHeaderBytes = 32
const frameHeaderBytes = 24
/** A longer log, which only a hanging reader can cause, is not checked. */
const maxReadBytes = 2 ** 30
const magicNumbers = [0x377f0682, 0x377f0683]

interface Stamp {
  generation: number
  schemaCookie: number
}

interface Log {
  commits: number
  lostCommits: number
  lostPages: number
  stamps: Stamp[]
}

interface Problem {
  text: string
  /** `move` the log before SQLite applies it, or `copy` it before SQLite truncates it. */
  keep?: 'move' | 'copy'
}

/** SQLite silently drops damaged changes, and applies a newer log to a restored backup. Not for a database open here. */
export const findLogProblem = (file: string): Problem | undefined => {
  const header = readStart(file, 100)
  if (header?.toString('latin1', 0, 16) !== 'SQLite format 3\0' || isBlank(header)) return undefined
  const name = basename(`${file}-wal`)
  const index = readIndex(`${file}-shm`)
  const stamp = stampOf(header)
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (bytes > maxReadBytes) return undefined
  if (bytes === 0) {
    const pages = index ? index.readUInt32LE(16) - index.readUInt32LE(96) : 0
    if (pages <= 0 && isMerged(stamp)) return undefined
    const lost = pages > 0 ? `${countOf(pages, 'changed page')} lost` : 'unknown number of changes lost'
    return { text: `${name} is missing, so ${basename(file)} lacks its latest changes: ${lost}` }
  }
  const log = readLog(readFileSync(`${file}-wal`), header.readUInt16BE(16), index)
  if (!belongs(stamp, log.stamps))
    return {
      text: `${name} belongs to a newer ${basename(file)}, possibly because a backup was restored. Its ${countOf(log.commits, 'change')} were not applied`,
      keep: 'move',
    }
  if (log.lostPages === 0) return undefined
  const lost = [
    ...(log.lostCommits > 0 ? [countOf(log.lostCommits, 'change')] : []),
    countOf(log.lostPages, 'changed page'),
  ].join(', ')
  return {
    text: `${name} is damaged: ${lost} lost; ${countOf(log.commits, 'change')} before the damage applied`,
    keep: 'copy',
  }
}

/** Saves a damaged or foreign log to `lost+found` and returns what is lost. Throws a StartError for a damaged database. */
export const salvageLog = (file: string, lostAndFound: LostAndFound): string | undefined => {
  const problem = findLogProblem(file)
  if (problem === undefined) return undefined
  const kept = problem.keep && saveLog(file, lostAndFound, problem.keep)
  const text = `${problem.text}${kept ? `. The log was saved as ${kept}` : ''}`
  lostAndFound.note(text)
  const { problem: damage } = inspectDatabase(file)
  if (damage === undefined) return text
  throw new StartError(
    `${text}. ${basename(file)} is ${damage}. Restore it from a backup, or move it away and run "npm run service -- recover"`,
  )
}

/** Saves the log of a lost database: SQLite deletes a log next to a new file. */
export const saveOrphanedLog = (file: string, lostAndFound: LostAndFound): void => {
  const bytes = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (bytes(file) > 0 || bytes(`${file}-wal`) === 0) return
  lostAndFound.note(`The log of a lost database was saved as ${saveLog(file, lostAndFound, 'move')}`)
}

const saveLog = (file: string, lostAndFound: LostAndFound, keep: 'move' | 'copy'): string => {
  const kept = join(lostAndFound.make(), basename(`${file}-wal`))
  if (keep === 'copy') copyFileSync(`${file}-wal`, kept)
  else {
    renameSync(`${file}-wal`, kept)
    rmSync(`${file}-shm`, { force: true })
  }
  return kept
}

const readLog = (bytes: Buffer, pageSize: number, index: Buffer | undefined): Log => {
  const log: Log = { commits: 0, lostCommits: 0, lostPages: 0, stamps: [] }
  const frameBytes = frameHeaderBytes + (pageSize === 1 ? 65_536 : pageSize)
  const frames = Math.floor((bytes.length - logHeaderBytes) / frameBytes)
  const isWhole = bytes.length >= logHeaderBytes && magicNumbers.includes(bytes.readUInt32BE(0))
  const bigEndian = isWhole && bytes.readUInt32BE(0) === magicNumbers[1]
  let sum: Checksum = [0, 0]
  if (isWhole) sum = checksum(bytes.subarray(0, 24), sum, bigEndian)
  let isValid = isWhole && matches(bytes, 24, sum)
  const indexed = index?.subarray(32, 40)
  const salts = isValid ? bytes.subarray(16, 24) : (indexed ?? bytes.subarray(logHeaderBytes + 8, logHeaderBytes + 16))
  const committed = indexed?.equals(salts) ? index?.readUInt32LE(16) : undefined
  let pending: Stamp[] = []
  for (let i = 0; i < frames; i++) {
    const frame = bytes.subarray(logHeaderBytes + i * frameBytes, logHeaderBytes + (i + 1) * frameBytes)
    const isOwn = frame.subarray(8, 16).equals(salts)
    const isCommit = frame.readUInt32BE(4) !== 0
    if (isValid && isOwn) {
      sum = checksum(frame.subarray(frameHeaderBytes), checksum(frame.subarray(0, 8), sum, bigEndian), bigEndian)
      isValid = matches(frame, 16, sum)
    } else isValid = false
    if (isValid) {
      if (frame.readUInt32BE(0) === 1) pending.push(stampOf(frame.subarray(frameHeaderBytes)))
      if (!isCommit) continue
      log.commits++
      log.stamps.push(...pending)
      pending = []
    } else if (committed === undefined ? isOwn : i < committed) {
      log.lostPages++
      if (isCommit) log.lostCommits++
    }
  }
  if (committed !== undefined) log.lostPages += Math.max(0, committed - Math.max(0, frames))
  // Without the index, a single last frame may belong to an incomplete transaction.
  else if (log.lostPages === 1) log.lostPages = log.lostCommits = 0
  return log
}

type Checksum = [number, number]

const checksum = (bytes: Buffer, [first, second]: Checksum, bigEndian: boolean): Checksum => {
  let [a, b] = [first, second]
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0
    b = (b + (bigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0
  }
  return [a, b]
}

const matches = (bytes: Buffer, at: number, [a, b]: Checksum) =>
  bytes.readUInt32BE(at) === a && bytes.readUInt32BE(at + 4) === b

const stampOf = (page: Buffer): Stamp => ({ generation: page.readInt32BE(68), schemaCookie: page.readUInt32BE(40) })

/** While the file has an odd generation, the next even one is still in the log. */
const isMerged = ({ generation }: Stamp) => generation % 2 === 0

const isBlank = (header: Buffer) => header.readUInt32BE(60) === 0

/** Every log starts with a new generation. VACUUM INTO, used for backups, increments the schema cookie. */
const belongs = ({ generation, schemaCookie }: Stamp, stamps: readonly Stamp[]): boolean => {
  const [first] = stamps
  if (!first) return true
  const same = stamps.filter((each) => each.generation === generation)
  const known = same.length === 0 && generation === first.generation - 1 ? [first] : same
  return known.some((each) => schemaCookie <= each.schemaCookie)
}

/** Undefined if missing or if a kill left its two header copies different. */
const readIndex = (file: string): Buffer | undefined => {
  const bytes = readStart(file, 136)
  return bytes?.subarray(0, 48).equals(bytes.subarray(48, 96)) ? bytes : undefined
}

const readStart = (file: string, length: number): Buffer | undefined => {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < length) return undefined
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(length)
    readSync(handle, bytes, 0, length, 0)
    return bytes
  } finally {
    closeSync(handle)
  }
}
