import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { RandomAccessReader } from 'yauzl'

/** The zip directory is read in 46-byte steps; this reads ahead. */
const blockBytes = 256 * 1024
const partBytes = 64 * 1024

/** Random access to an archive, as the zip reader needs it. */
abstract class ArchiveBytes extends RandomAccessReader {
  readonly sizeBytes: number
  #block = { start: 0, bytes: Buffer.alloc(0) }

  constructor(sizeBytes: number) {
    super()
    this.sizeBytes = sizeBytes
  }

  /** Bytes from `start` to before `end`. */
  protected abstract streamOf(start: number, end: number): Readable

  override _readStreamForRange(start: number, end: number): Readable {
    return start < end ? this.streamOf(start, end) : Readable.from([])
  }

  override read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.#bytesAt(position, length).then(
      (bytes) => {
        bytes.copy(into, offset)
        setImmediate(callback, null)
      },
      (error: Error) => setImmediate(callback, error),
    )
  }

  async #bytesAt(position: number, length: number): Promise<Buffer> {
    if (position + length > this.sizeBytes) throw new Error('it ends before what its directory says')
    const at = position - this.#block.start
    if (at < 0 || at + length > this.#block.bytes.length) {
      const end = Math.min(this.sizeBytes, position + Math.max(length, blockBytes))
      const pieces: Buffer[] = []
      for await (const piece of this.streamOf(position, end)) pieces.push(piece as Buffer)
      this.#block = { start: position, bytes: Buffer.concat(pieces) }
      if (this.#block.bytes.length < length) throw new Error('it is shorter than it was')
    }
    const from = position - this.#block.start
    return this.#block.bytes.subarray(from, from + length)
  }
}

/** An archive in an unlinked file, which the system frees when the console ends. */
export class CopiedArchive extends ArchiveBytes {
  readonly #file: FileHandle

  constructor(file: FileHandle, sizeBytes: number) {
    super(sizeBytes)
    this.#file = file
  }

  protected override streamOf(start: number, end: number): Readable {
    return Readable.from(partsOfFile(this.#file, start, end), { objectMode: false })
  }

  override close(callback: (error: Error | null) => void): void {
    this.#file.close().then(() => callback(null), callback)
  }
}

/** The file's own stream would close the file. */
async function* partsOfFile(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(partBytes, end - at)), { position: at })
    if (bytesRead === 0) throw new Error('the copy is shorter than it was')
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

export const namelessFile = async (): Promise<FileHandle> => {
  const folder = await mkdtemp(join(tmpdir(), 'devdeck-logs-'))
  try {
    return await open(join(folder, 'archive'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A remote archive, read in ranges on demand. */
export class RemoteArchive extends ArchiveBytes {
  readonly #ask: (start: number, end: number) => Promise<ReadableStream<Uint8Array>>

  constructor(sizeBytes: number, ask: (start: number, end: number) => Promise<ReadableStream<Uint8Array>>) {
    super(sizeBytes)
    this.#ask = ask
  }

  protected override streamOf(start: number, end: number): Readable {
    return Readable.from(
      partsOf(() => this.#ask(start, end)),
      { objectMode: false },
    )
  }

  override close(callback: (error: Error | null) => void): void {
    callback(null)
  }
}

async function* partsOf(ask: () => Promise<ReadableStream<Uint8Array>>): AsyncGenerator<Buffer> {
  for await (const part of await ask()) yield Buffer.from(part.buffer, part.byteOffset, part.byteLength)
}
