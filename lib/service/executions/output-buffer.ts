import { close, mkdirSync, openSync, write } from 'node:fs'
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { Condition } from '#lib/service/kit/condition.ts'
import { ifMissing } from '#lib/service/kit/errors.ts'
import { firstCharacter, wholeLength } from '#lib/service/kit/utf8.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'

// With a character held back of the piece before, the longest piece a reader gets is 64 KiB.
const maxReadBytes = 64 * 1024 - 3
// Above this the writer of the pipe waits, so memory stays flat however fast it writes.
const maxUnwrittenBytes = 1024 * 1024
// Unspecified: how much of a stream is kept, and of all commands of a devbox together. Beyond it output is read and
// dropped, so that `yes` cannot fill the disk, which is not the devbox's own.
const maxKeptBytes = 1024 ** 3
const maxKeptTogetherBytes = 4 * 1024 ** 3

/** What the commands of a devbox may still leave on the disk. */
export class OutputAllowance {
  readonly #account: string
  readonly #quota: StorageQuota
  #leftBytes: number

  constructor({
    account,
    quota,
    bytes = maxKeptTogetherBytes,
  }: { account: string; quota: StorageQuota; bytes?: number }) {
    this.#account = account
    this.#quota = quota
    this.#leftBytes = bytes
  }

  /** As many of the bytes as there is room for. */
  take(bytes: number): number {
    const taken = Math.min(bytes, this.#leftBytes, this.#quota.available(this.#account))
    this.#leftBytes -= taken
    this.#quota.add(this.#account, 'outputs', taken)
    return taken
  }

  /** Takes what is in a folder of executions already, and in the quota. */
  async takeFolder(folder: string): Promise<void> {
    for (const name of (await readdir(folder, { recursive: true }).catch(ifMissing)) ?? []) {
      const found = await stat(join(folder, name)).catch(ifMissing)
      if (found?.isFile()) this.#leftBytes = Math.max(0, this.#leftBytes - found.size)
    }
  }
}

/**
 * One output stream of an execution, kept in a file: written once with backpressure, read from any byte offset by any
 * number of readers while it grows and after. There is no file while nothing was written: most commands leave at least
 * one of their two streams empty.
 */
export class OutputBuffer {
  /** Pipe the process's output into it. Write errors (a full disk) drop what follows instead of blocking the process. */
  readonly sink: Writable
  readonly #file: string
  readonly #allowance: OutputAllowance
  #descriptor: number | undefined
  #size = 0
  #isCut = false
  #ended = false
  readonly #grown = new Condition()

  constructor(file: string, allowance: OutputAllowance) {
    this.#file = file
    this.#allowance = allowance
    this.sink = new Writable({
      highWaterMark: maxUnwrittenBytes,
      write: (chunk: Buffer, _encoding, done) => this.#store(chunk, done),
      writev: (chunks, done) => this.#store(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
      destroy: (error, done) => {
        if (this.#descriptor === undefined) done(error)
        else close(this.#descriptor, () => done(error))
      },
    })
  }

  /** True when some of the output is not in the file: the disk was full, or there was too much of it. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Resolves when everything written is in the file; readers end after that. */
  async end(): Promise<void> {
    await new Promise<void>((resolve) => this.sink.end(resolve))
    this.#ended = true
    this.#grown.notify()
  }

  /** Bytes from `offset` on, as they come, until the stream has ended or `signal` aborts. */
  async *follow(offset: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    signal.addEventListener('abort', this.#grown.notify)
    let handle: FileHandle | undefined
    try {
      for (let position = offset; !signal.aborted; ) {
        const grown = this.#grown.changed
        if (position < this.#size) {
          handle ??= await open(this.#file)
          const piece = await readPiece(handle, position, this.#size - position)
          if (piece.length === 0) return
          position += piece.length
          yield piece
        } else if (this.#ended) return
        else await grown
      }
    } finally {
      signal.removeEventListener('abort', this.#grown.notify)
      await handle?.close()
    }
  }

  #store(chunk: Buffer, done: () => void): void {
    const wanted = this.#isCut ? 0 : Math.min(chunk.length, maxKeptBytes - this.#size)
    const kept = chunk.subarray(0, this.#allowance.take(wanted))
    if (kept.length < chunk.length) this.#isCut = true
    this.#write(kept, done)
  }

  #write(kept: Buffer, done: () => void): void {
    const descriptor = kept.length > 0 ? this.#open() : undefined
    if (descriptor === undefined) {
      done()
      return
    }
    write(descriptor, kept, 0, kept.length, null, (error, written) => {
      if (error) this.#isCut = true
      else this.#size += written
      this.#grown.notify()
      if (!error && written < kept.length) this.#write(kept.subarray(written), done)
      else done()
    })
  }

  #open(): number | undefined {
    try {
      this.#descriptor ??= makeFile(this.#file)
    } catch {
      // The disk is full, most likely.
      this.#isCut = true
    }
    return this.#descriptor
  }
}

const makeFile = (file: string): number => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  return openSync(file, 'a', 0o600)
}

const readPiece = async (handle: FileHandle, position: number, atMost = maxReadBytes): Promise<Buffer> => {
  const length = Math.min(maxReadBytes, atMost)
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

/** The bytes of a finished stream from `offset` on. */
export async function* readFinished(file: string, offset: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  const handle = await open(file).catch(ifMissing)
  if (!handle) return
  try {
    for (let position = offset; !signal.aborted; ) {
      const piece = await readPiece(handle, position)
      if (piece.length === 0) return
      position += piece.length
      yield piece
    }
  } finally {
    await handle.close()
  }
}

/** The last `maxBytes` of a finished stream, at most `lastLines` lines of them; `truncated` when there was more. */
export const readTail = async (file: string, maxBytes: number, lastLines = Number.POSITIVE_INFINITY) => {
  const size = (await stat(file).catch(ifMissing))?.size ?? 0
  if (size === 0) return { text: '', truncated: false }
  const start = Math.max(0, size - maxBytes)
  const chunks: Buffer[] = []
  for await (const chunk of readFinished(file, start, new AbortController().signal)) chunks.push(chunk)
  const all = Buffer.concat(chunks)
  const tail = start === 0 ? all : all.subarray(firstCharacter(all))
  const kept = tail.subarray(startOfLastLines(tail, lastLines))
  return { text: kept.toString('utf8'), truncated: kept.length < size }
}

/** A newline ends its line, so the last byte never counts as the end of one before. */
const startOfLastLines = (bytes: Buffer, lines: number): number => {
  if (lines === 0) return bytes.length
  let end = bytes.length - 1
  for (let left = lines; left > 0; left--) {
    if (end <= 0) return 0
    end = bytes.lastIndexOf(10, end - 1)
    if (end === -1) return 0
  }
  return end + 1
}

/**
 * Text of a byte stream, in pieces that never cut a character. What no further byte could make a character becomes
 * U+FFFD, as does an unfinished one at the very end: the pieces joined are the whole decoded at once. `offset` counts
 * the bytes up to the end of the piece.
 */
export async function* decodeChunks(
  bytes: AsyncIterable<Buffer>,
  offset: number,
): AsyncGenerator<{ output: string; offset: number }> {
  let held: Buffer = Buffer.alloc(0)
  let position = offset
  for await (const chunk of bytes) {
    const all = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const whole = wholeLength(all)
    held = all.subarray(whole)
    position += whole
    if (whole > 0) yield { output: all.toString('utf8', 0, whole), offset: position }
  }
  if (held.length > 0) yield { output: held.toString('utf8'), offset: position + held.length }
}
