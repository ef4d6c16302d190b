import { close, mkdirSync, openSync, statSync, write } from 'node:fs'
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { Condition } from '#lib/service/kit/condition.ts'
import { ifMissing } from '#lib/service/kit/errors.ts'
import { firstCharacter, lengthOfWholeCharacters } from '#lib/service/kit/utf8.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'

// A held-back character is added, so pieces are at most 64 KiB.
const maxReadBytes = 64 * 1024 - 3
// Backpressure limit: the command waits while more is unwritten.
const maxUnwrittenBytes = 1024 * 1024
// Unspecified: stored output per stream, and per devbox for all commands. The rest is dropped.
const maxStreamBytes = 1024 ** 3
const maxDevboxBytes = 4 * 1024 ** 3

export class OutputAllowance {
  readonly #account: string
  readonly #quota: StorageQuota
  #remainingBytes: number

  constructor({ account, quota, bytes = maxDevboxBytes }: { account: string; quota: StorageQuota; bytes?: number }) {
    this.#account = account
    this.#quota = quota
    this.#remainingBytes = bytes
  }

  take(bytes: number): number {
    const taken = Math.min(bytes, this.#remainingBytes, this.#quota.available(this.#account))
    this.#remainingBytes -= taken
    this.#quota.add(this.#account, 'outputs', taken)
    return taken
  }

  async takeFolder(folder: string): Promise<void> {
    for (const name of (await readdir(folder, { recursive: true }).catch(ifMissing)) ?? []) {
      const found = await stat(join(folder, name)).catch(ifMissing)
      if (found?.isFile()) this.#remainingBytes = Math.max(0, this.#remainingBytes - found.size)
    }
  }
}

/** Output stored in a file, created on the first write, that can be read from any offset while it grows. */
export class OutputBuffer {
  /** Receives the process's output. After a write error, output is dropped instead of blocking the process. */
  readonly sink: Writable
  readonly #file: string
  readonly #allowance: OutputAllowance
  #descriptor: number | undefined
  #size = 0
  isCut = false
  /** Called when bytes have been stored or dropped. */
  onTaken: ((bytes: number) => void) | undefined
  #ended = false
  readonly #grown = new Condition()

  constructor(file: string, allowance: OutputAllowance) {
    this.#file = file
    this.#allowance = allowance
    this.sink = new Writable({
      highWaterMark: maxUnwrittenBytes,
      write: (chunk: Buffer, _encoding, done) => this.#take(chunk, done),
      writev: (chunks, done) => this.#take(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
      destroy: (error, done) => {
        if (this.#descriptor === undefined) done(error)
        else close(this.#descriptor, () => done(error))
      },
    })
  }

  async end(): Promise<void> {
    await new Promise<void>((resolve) => this.sink.end(resolve))
    this.#ended = true
    this.#grown.notify()
  }

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

  /** Continues the file of an earlier service. */
  resume(): void {
    this.#size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0
  }

  get size(): number {
    return this.#size
  }

  #take(chunk: Buffer, done: () => void): void {
    this.#store(chunk, () => {
      this.onTaken?.(chunk.length)
      done()
    })
  }

  #store(chunk: Buffer, done: () => void): void {
    const requestedBytes = this.isCut ? 0 : Math.min(chunk.length, maxStreamBytes - this.#size)
    const stored = chunk.subarray(0, this.#allowance.take(requestedBytes))
    if (stored.length < chunk.length) this.isCut = true
    this.#write(stored, done)
  }

  #write(stored: Buffer, done: () => void): void {
    const descriptor = stored.length > 0 ? this.#open() : undefined
    if (descriptor === undefined) {
      done()
      return
    }
    write(descriptor, stored, 0, stored.length, null, (error, written) => {
      if (error) this.isCut = true
      else this.#size += written
      this.#grown.notify()
      if (!error && written < stored.length) this.#write(stored.subarray(written), done)
      else done()
    })
  }

  #open(): number | undefined {
    if (this.#descriptor !== undefined) return this.#descriptor
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
      this.#descriptor = openSync(this.#file, 'a', 0o600)
    } catch {
      this.isCut = true
    }
    return this.#descriptor
  }
}

const readPiece = async (handle: FileHandle, position: number, atMost = maxReadBytes): Promise<Buffer> => {
  const length = Math.min(maxReadBytes, atMost)
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

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

export const readTail = async (file: string, maxBytes: number, lastLines = Number.POSITIVE_INFINITY) => {
  const size = (await stat(file).catch(ifMissing))?.size ?? 0
  if (size === 0) return { text: '', truncated: false }
  const start = Math.max(0, size - maxBytes)
  const chunks: Buffer[] = []
  for await (const chunk of readFinished(file, start, new AbortController().signal)) chunks.push(chunk)
  const all = Buffer.concat(chunks)
  const tail = start === 0 ? all : all.subarray(firstCharacter(all))
  const stored = tail.subarray(startOfLastLines(tail, lastLines))
  return { text: stored.toString('utf8'), truncated: stored.length < size }
}

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

/** Never splits a character; invalid bytes become U+FFFD. `offset` is the end of each piece. */
export async function* decodeChunks(
  bytes: AsyncIterable<Buffer>,
  offset: number,
): AsyncGenerator<{ output: string; offset: number }> {
  let held: Buffer = Buffer.alloc(0)
  let position = offset
  for await (const chunk of bytes) {
    const all = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const completeLength = lengthOfWholeCharacters(all)
    held = all.subarray(completeLength)
    position += completeLength
    if (completeLength > 0) yield { output: all.toString('utf8', 0, completeLength), offset: position }
  }
  if (held.length > 0) yield { output: held.toString('utf8'), offset: position + held.length }
}
