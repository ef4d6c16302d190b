import type { Readable } from 'node:stream'

interface TarFile {
  path: string
  sizeBytes: number
  /** Read it before requesting the next file. */
  content: AsyncIterable<Uint8Array>
}

/** Yields the regular files of a tar stream from an untrusted source. Throws if it is malformed or cut off. */
export async function* tarFiles(stream: Readable): AsyncGenerator<TarFile> {
  const reader = new BlockReader(stream)
  for (let longPath: string | undefined; ; ) {
    const header = await reader.block()
    if (!header || header.every((byte) => byte === 0)) return
    const type = String.fromCharCode(header[156] ?? 0)
    const sizeBytes = numberAt(header, 124, 12)
    if (type === 'L' || type === 'x') {
      if (sizeBytes > maxNameBytes) throw new Error('The archive has a name that is too long')
      const text = Buffer.concat(await Array.fromAsync(reader.content(sizeBytes))).toString()
      await reader.skip()
      longPath = type === 'L' ? text.replace(/\0.*$/s, '') : (paxPath(text) ?? longPath)
      continue
    }
    const content = reader.content(sizeBytes)
    const path = longPath ?? [textAt(header, 345, 155), textAt(header, 0, 100)].filter(Boolean).join('/')
    longPath = undefined
    if (type === '0' || type === '\0') yield { path, sizeBytes, content }
    await reader.skip()
  }
}

const blockBytes = 512
const maxNameBytes = 64 * 1024

class BlockReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)
  #left = 0
  #padding = 0

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (!done) this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
    return !done
  }

  async block(): Promise<Buffer | undefined> {
    while (this.#rest.length < blockBytes) if (!(await this.#fill())) return undefined
    const block = this.#rest.subarray(0, blockBytes)
    this.#rest = this.#rest.subarray(blockBytes)
    return block
  }

  content(sizeBytes: number): AsyncGenerator<Uint8Array> {
    this.#left = sizeBytes
    this.#padding = -sizeBytes & (blockBytes - 1)
    return this.#read()
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    while (this.#left > 0) {
      if (this.#rest.length === 0 && !(await this.#fill())) throw new Error('The archive is cut off')
      const part = this.#rest.subarray(0, this.#left)
      this.#rest = this.#rest.subarray(part.length)
      this.#left -= part.length
      yield part
    }
  }

  /** Skips what is left of the content. */
  async skip(): Promise<void> {
    for await (const _ of this.#read());
    while (this.#rest.length < this.#padding) if (!(await this.#fill())) throw new Error('The archive is cut off')
    this.#rest = this.#rest.subarray(this.#padding)
    this.#padding = 0
  }
}

const textAt = (header: Buffer, at: number, length: number): string =>
  header
    .subarray(at, at + length)
    .toString()
    .replace(/\0.*$/s, '')

const numberAt = (header: Buffer, at: number, length: number): number => {
  const isBinary = ((header[at] ?? 0) & 0x80) !== 0
  const number = isBinary
    ? Number(header.readBigUInt64BE(at + length - 8))
    : Number.parseInt(textAt(header, at, length).trim() || '0', 8)
  if (!Number.isSafeInteger(number) || number < 0) throw new Error('The archive is malformed')
  return number
}

const paxPath = (text: string): string | undefined => /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1]
