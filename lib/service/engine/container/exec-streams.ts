import { Readable } from 'node:stream'

export interface ExecStreams {
  stdout: Readable
  stderr: Readable
  /** The first line of stdout; undefined if the connection ended before it. */
  firstLine: Promise<string | undefined>
  /** What follows the mark on stdout, once both streams are marked. Never settles without the marks. */
  marked: Promise<string>
}

/**
 * Splits the multiplexed output of an exec. With a `mark`, removes the first line of stdout and the marks that end both
 * streams.
 */
export const splitStreams = (socket: Readable, mark?: string): ExecStreams => {
  const { stdout, stderr, push } = pausingStreams(socket)
  const first = Promise.withResolvers<string | undefined>()
  const marks = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const
  const filters = [new MarkFilter(mark, marks[0].resolve), new MarkFilter(mark, marks[1].resolve)] as const
  let line = mark === undefined ? undefined : Buffer.alloc(0)
  const takeFirstLine = (bytes: Buffer): Buffer => {
    if (line === undefined) return bytes
    line = Buffer.concat([line, bytes])
    const end = line.indexOf('\n')
    if (end === -1) return Buffer.alloc(0)
    const rest = line.subarray(end + 1)
    first.resolve(line.toString('utf8', 0, end))
    line = undefined
    return rest
  }
  const frames = new FrameReader((type, bytes) => {
    if (type === 2) push(stderr, filters[1].take(bytes))
    else push(stdout, filters[0].take(takeFirstLine(bytes)))
  })
  socket.on('data', (chunk: Buffer) => frames.take(chunk))
  socket.once('close', () => {
    first.resolve(undefined)
    push(stdout, line ?? filters[0].rest())
    push(stderr, filters[1].rest())
    for (const each of [stdout, stderr]) if (!each.destroyed) each.push(null)
  })
  return {
    stdout,
    stderr,
    firstLine: first.promise,
    marked: Promise.all(marks.map((each) => each.promise)).then(([text = '']) => text),
  }
}

/** Streams whose unread output pauses `source`, which is destroyed with them. */
export const pausingStreams = (source: Record<'pause' | 'resume' | 'destroy', () => unknown>) => {
  const full = new Set<Readable>()
  const stream = () => {
    const readable = new Readable({
      read() {
        full.delete(readable)
        if (full.size === 0) source.resume()
      },
      destroy(error, done) {
        full.delete(readable)
        if (stdout.destroyed && stderr.destroyed) source.destroy()
        else if (full.size === 0) source.resume()
        done(error)
      },
    })
    return readable
  }
  const stdout = stream()
  const stderr = stream()
  const push = (readable: Readable, bytes: Buffer) => {
    if (bytes.length === 0 || readable.destroyed || readable.push(bytes)) return
    full.add(readable)
    source.pause()
  }
  return { stdout, stderr, push }
}

const headerBytes = 8

/** Reads frames of a type, three zero bytes, a length and data, which comes in pieces; `left` is what is missing. */
export class FrameReader {
  readonly #onData: (type: number, bytes: Buffer, left: number) => void
  #header = Buffer.alloc(0)
  #left = 0
  #type = 0

  constructor(onData: (type: number, bytes: Buffer, left: number) => void) {
    this.#onData = onData
  }

  take(chunk: Buffer): void {
    let bytes = chunk
    while (bytes.length > 0) {
      if (this.#left === 0) {
        const missing = headerBytes - this.#header.length
        this.#header = Buffer.concat([this.#header, bytes.subarray(0, missing)])
        bytes = bytes.subarray(missing)
        if (this.#header.length < headerBytes) return
        this.#type = this.#header[0] ?? 0
        this.#left = this.#header.readUInt32BE(4)
        this.#header = Buffer.alloc(0)
      } else {
        const part = bytes.subarray(0, this.#left)
        this.#left -= part.length
        bytes = bytes.subarray(part.length)
        this.#onData(this.#type, part, this.#left)
      }
    }
  }
}

/** Removes a mark and the rest of its line from a stream. */
class MarkFilter {
  readonly #mark: Buffer
  readonly #onMark: (rest: string) => void
  #held = Buffer.alloc(0)
  #found = false

  constructor(mark: string | undefined, onMark: (rest: string) => void) {
    this.#mark = Buffer.from(mark ?? '')
    this.#found = mark === undefined
    this.#onMark = onMark
  }

  take(chunk: Buffer): Buffer {
    if (this.#found) return chunk
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    const at = bytes.indexOf(this.#mark)
    const end = at === -1 ? -1 : bytes.indexOf('\n', at)
    if (end === -1) {
      const kept = at === -1 ? bytes.length - this.#partialMark(bytes) : at
      this.#held = Buffer.from(bytes.subarray(kept))
      return bytes.subarray(0, kept)
    }
    this.#found = true
    this.#held = Buffer.alloc(0)
    this.#onMark(bytes.toString('utf8', at + this.#mark.length, end).trim())
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end + 1)])
  }

  rest(): Buffer {
    return this.#found ? Buffer.alloc(0) : this.#held
  }

  /** Length of the longest end of `bytes` that starts the mark. */
  #partialMark(bytes: Buffer): number {
    for (let length = Math.min(bytes.length, this.#mark.length - 1); length > 0; length--)
      if (bytes.subarray(bytes.length - length).equals(this.#mark.subarray(0, length))) return length
    return 0
  }
}
