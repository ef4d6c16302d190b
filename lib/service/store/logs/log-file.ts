import { type FileHandle, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogRecord } from '#lib/contract/logs.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { Condition } from '#lib/service/kit/condition.ts'
import { ifMissing } from '#lib/service/kit/errors.ts'

/** Unspecified: a devbox's log keeps the last two files of this size. */
const maxFileBytes = 8 * 1024 * 1024
// Above this, a slow disk drops and counts records to bound memory.
const maxPendingBytes = 4 * 1024 * 1024
// Long enough to log a short command in one write, short enough to seem immediate.
const batchMs = 10
const readBytes = 64 * 1024
const newline = 10
/** Unspecified: source of records about the log itself, which no command uses. */
const ownSource = 'kmsg'

/** Numbered files with one record per line. The highest is appended to; the one before it is kept. */
export class LogFile {
  readonly #folder: string
  readonly #onIdle: () => void
  #readers = 0
  #commands = 0
  #pending: string[] = []
  #pendingBytes = 0
  #lost = 0
  #writing: Promise<void> | undefined
  #current: { number: number; size: number; isTruncated: boolean } | undefined
  readonly #condition = new Condition()
  readonly wake = this.#condition.notify

  constructor(folder: string, onIdle: () => void) {
    this.#folder = folder
    this.#onIdle = onIdle
  }

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

  begin() {
    this.#commands++
  }

  finish() {
    this.#commands--
    this.wake()
    this.#notifyIfIdle()
  }

  async flush(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  isQuiet(): boolean {
    return this.#writing === undefined && this.#commands === 0
  }

  isIdle(): boolean {
    return this.isQuiet() && this.#readers === 0
  }

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
      this.#notifyIfIdle()
    }
  }

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
        // Read before the file so that the next round sees changes made in the meantime.
        const { changed } = this.#condition
        const isComplete = number < (this.#current?.number ?? lastKnown)
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
        // Probably a full disk. The loss is recorded with the next successful write.
        this.#lost += lost + batch.length
        this.#current = undefined
      }
    }
    this.#writing = undefined
    this.wake()
    this.#notifyIfIdle()
  }

  async #store(text: string) {
    let current = this.#current ?? (await this.#find())
    if (current.size >= maxFileBytes) {
      await rm(this.#path(current.number - 1), { force: true })
      current = { number: current.number + 1, size: 0, isTruncated: false }
    }
    this.#current = current
    // Ends a line that a crash or full disk may have truncated; empty lines are skipped.
    await writeFile(this.#path(current.number), current.isTruncated ? `\n${text}` : text, { flag: 'a', mode: 0o600 })
    current.isTruncated = false
    current.size += Buffer.byteLength(text)
  }

  async #find() {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const number = (await numbersIn(this.#folder)).at(-1) ?? 1
    const size = (await stat(this.#path(number)).catch(ifMissing))?.size ?? 0
    return { number, size, isTruncated: size > 0 }
  }

  #path(number: number) {
    return join(this.#folder, `${number}.jsonl`)
  }

  #notifyIfIdle() {
    if (this.isIdle()) this.#onIdle()
  }
}

async function* afterDropped(records: AsyncGenerator<LogRecord, boolean>): AsyncGenerator<LogRecord, boolean> {
  const next = await records.next()
  if (next.done) return next.value
  const { timestamp_ms } = next.value
  yield { timestamp_ms, level: 'warn', source: ownSource, message: 'Older records were deleted' }
  yield next.value
  return yield* records
}

const lostLine = (count: number): string =>
  `${JSON.stringify({
    timestamp_ms: Date.now(),
    level: 'warn',
    source: ownSource,
    message: `${countOf(count, 'earlier record')} could not be written`,
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
      // Truncated by a crash or full disk.
    }
  }
}
