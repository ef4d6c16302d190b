import { readSync } from 'node:fs'
import { Readable } from 'node:stream'
import { RandomAccessReader } from 'yauzl'

/** Returns fewer bytes at the end of the file. */
export type ReadAt = (position: number, length: number) => Buffer

const windowBytes = 1024 * 1024
const chunkBytes = 64 * 1024

/** An archive is read in order and in small parts, and each read of its own costs more than its content. */
export const readAhead = (fd: number): ReadAt => {
  let start = 0
  let window = Buffer.alloc(0)
  return (position, length) => {
    if (position < start || position + length > start + window.length) {
      const buffer = Buffer.allocUnsafe(Math.max(windowBytes, length))
      window = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, position))
      start = position
    }
    return window.subarray(position - start, position - start + length)
  }
}

export class ZipReader extends RandomAccessReader {
  readonly #readAt: ReadAt

  constructor(fd: number) {
    super()
    this.#readAt = readAhead(fd)
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    callback(null, this.#readAt(position, length).copy(buffer, offset))
  }

  /** A file stream would close the descriptor when it is destroyed. */
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(chunksOf(this.#readAt, start, end), { objectMode: false })
  }
}

function* chunksOf(readAt: ReadAt, start: number, end: number): Generator<Buffer> {
  for (let at = start; at < end; ) {
    const chunk = readAt(at, Math.min(chunkBytes, end - at))
    if (chunk.length === 0) return
    yield chunk
    at += chunk.length
  }
}
