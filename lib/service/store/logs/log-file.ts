import { type FileHandle, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogRecord } from '#lib/contract/logs.ts'
import { Condition } from '#lib/service/kit/condition.ts'
import { ifMissing } from '#lib/service/kit/errors.ts'

/** Unspecified: how much of a devbox's log is kept: the last two files of this size. */
const maxFileBytes = 8 * 1024 * 1024
// Records that wait for a slow disk. Beyond this they are counted and lost, so that memory stays bounded.
const maxPendingBytes = 4 * 1024 * 1024
// Long enough for a short command to be logged whole in one write, short enough to look immediate.
const batchMs = 10
const readBytes = 64 * 1024
const newline = 10
/** Unspecified: the source of records about the log itself: the known source that no command writes to. */
const ownSource = 'kmsg'

/** Numbered files of one record a line; the highest number is the one that grows, the one before it is kept. */
export class LogFile {
  readonly #folder: string
  readonly #becameIdle: () => void
  #readers = 0
  #commands = 0
  #pending: string[] = []
  #pendingBytes = 0
  #lost = 0
  #writing: Promise<void> | undefined
  /** The growing file; undefined while it is not known. */
  #growing: { number: number; size: number; isCut: boolean } | undefined
  readonly #condition = new Condition()
  /** Has readers look again. */
  readonly wake = this.#condition.notify

  constructor(folder: string, becameIdle: () => void) {
    this.#folder = folder
    this.#becameIdle = becameIdle
  }

  /** Returns the length of the record. */
  append(record: Omit<LogRecord, 'timestamp_ms'>): number {
    const line = `${JSON.stringify({ timestamp_ms: Date.now(), ...record })}\n`
    if (this.#pendingBytes + line.length > maxPendingBytes) this.#lost++
    else {
      this.#pending.push(line)
      this.#pendingBytes += line.length
    }
    this.#writing ??= this.#write()
    return line.length
  }

  /** Until `finish`, readers expect more. */
  begin() {
    this.#commands++
  }

  finish() {
    this.#commands--
    this.wake()
    this.#tellIfIdle()
  }

  /** Resolves when what was appended is in the files, or lost. */
  async written(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  /** Nothing waits to be written, and no command runs that will. */
  isQuiet(): boolean {
    return this.#writing === undefined && this.#commands === 0
  }

  isIdle(): boolean {
    return this.isQuiet() && this.#readers === 0
  }

  /** Every record kept, then new ones, until `isDone` and all is read, or `signal` aborts. */
  async *read(signal: AbortSignal, isDone: () => boolean): AsyncGenerator<LogRecord> {
    this.#readers++
    signal.addEventListener('abort', this.wake)
    try {
      const numbers = await numbersIn(this.#folder)
      const first = numbers[0] ?? 1
      let isLast = false
      for (let number = first; !isLast && !signal.aborted; number++) {
        const records = this.#readOne(number, numbers.at(-1) ?? 1, signal, isDone)
        isLast = yield* number === first && first > 1 ? afterDropped(records) : records
      }
    } finally {
      signal.removeEventListener('abort', this.wake)
      this.#readers--
      this.#tellIfIdle()
    }
  }

  /** False when another file follows this one. */
  async *#readOne(
    number: number,
    lastKnown: number,
    signal: AbortSignal,
    isDone: () => boolean,
  ): AsyncGenerator<LogRecord, boolean> {
    let handle: FileHandle | undefined
    let position = 0
    let held: Buffer = Buffer.alloc(0)
    try {
      while (!signal.aborted) {
        // All three before the read: the next round finds what changes during it.
        const { changed } = this.#condition
        const isComplete = number < (this.#growing?.number ?? lastKnown)
        const done = isDone()
        handle ??= await open(this.#path(number)).catch(ifMissing)
        const { buffer, bytesRead } = (await handle?.read(Buffer.allocUnsafe(readBytes), 0, readBytes, position)) ?? {}
        if (buffer && bytesRead) {
          position += bytesRead
          const all = Buffer.concat([held, buffer.subarray(0, bytesRead)])
          const end = all.lastIndexOf(newline) + 1
          held = all.subarray(end)
          yield* parse(all.toString('utf8', 0, end))
        } else if (isComplete) return false
        else if (done) return true
        else await changed
      }
      return true
    } finally {
      await handle?.close()
    }
  }

  async #write(): Promise<void> {
    await delay(batchMs)
    while (this.#pending.length > 0) {
      const batch = this.#pending
      const lost = this.#lost
      this.#pending = []
      this.#pendingBytes = 0
      this.#lost = 0
      try {
        await this.#store(lost === 0 ? batch.join('') : `${batch.join('')}${lostLine(lost)}`)
        this.wake()
      } catch {
        // A full disk, most likely. The loss is recorded with the next records that find room.
        this.#lost += lost + batch.length
        this.#growing = undefined
      }
    }
    this.#writing = undefined
    this.wake()
    this.#tellIfIdle()
  }

  async #store(text: string) {
    let growing = this.#growing ?? (await this.#find())
    if (growing.size >= maxFileBytes) {
      await rm(this.#path(growing.number - 1), { force: true })
      growing = { number: growing.number + 1, size: 0, isCut: false }
    }
    this.#growing = growing
    // The line that a crash or a full disk may have cut ends here; an empty line is none.
    await writeFile(this.#path(growing.number), growing.isCut ? `\n${text}` : text, { flag: 'a', mode: 0o600 })
    growing.isCut = false
    growing.size += Buffer.byteLength(text)
  }

  async #find() {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const number = (await numbersIn(this.#folder)).at(-1) ?? 1
    const size = (await stat(this.#path(number)).catch(ifMissing))?.size ?? 0
    return { number, size, isCut: size > 0 }
  }

  #path(number: number) {
    return join(this.#folder, `${number}.jsonl`)
  }

  #tellIfIdle() {
    if (this.isIdle()) this.#becameIdle()
  }
}

/** The same records, after one that says that earlier ones are no longer kept. */
async function* afterDropped(records: AsyncGenerator<LogRecord, boolean>): AsyncGenerator<LogRecord, boolean> {
  const next = await records.next()
  if (next.done) return next.value
  const { timestamp_ms } = next.value
  yield { timestamp_ms, level: 'warn', source: ownSource, message: 'What was logged before this is no longer kept' }
  yield next.value
  return yield* records
}

const lostLine = (count: number): string =>
  `${JSON.stringify({
    timestamp_ms: Date.now(),
    level: 'warn',
    source: ownSource,
    message: `${count} records before this could not be written and are lost`,
  } satisfies LogRecord)}\n`

const numbersIn = async (folder: string): Promise<number[]> => {
  const names = (await readdir(folder).catch(ifMissing)) ?? []
  return names
    .flatMap((name) => /^(\d+)\.jsonl$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

function* parse(text: string): Generator<LogRecord> {
  for (const line of text.split('\n')) {
    try {
      if (line !== '') yield JSON.parse(line)
    } catch {
      // Cut by a crash or a full disk.
    }
  }
}
