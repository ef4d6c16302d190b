import { type FileHandle, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogQuery, LogRecord, LogSource } from '#lib/contract/logs.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { Condition } from '#lib/service/kit/condition.ts'
import { ifMissing } from '#lib/service/kit/errors.ts'
import { lengthOfWholeCharacters } from '#lib/service/kit/utf8.ts'

/** Unspecified: a devbox's log keeps the last two files of this size. */
const maxFileBytes = 8 * 1024 * 1024
// Above this, a slow disk drops and counts records to bound memory.
const maxPendingBytes = 4 * 1024 * 1024
// Long enough to log a short command in one write, short enough to seem immediate.
const batchMs = 10
const readBytes = 64 * 1024
const newline = 10
/** Unspecified: longest message. Longer lines lose text overwritten after a carriage return, and are then truncated. */
const maxMessageBytes = 8 * 1024
/** Unspecified: log limit per command. Its execution has the full output. */
const maxCommandBytes = 256 * 1024

type NewRecord = Omit<LogRecord, 'timestamp_ms'>

/** Files below `folderOf(devbox)/log`, kept after the devbox has ended. Records that a full disk rejects are counted. */
export class DevboxLogs {
  readonly #folderOf: (devboxId: string) => string
  readonly #open = new Map<string, LogFile>()

  constructor(folderOf: (devboxId: string) => string) {
    this.#folderOf = folderOf
  }

  append(devboxId: string, record: NewRecord): void {
    this.#file(devboxId).append(record)
  }

  command(devboxId: string, command: LoggedCommand): CommandLog {
    return logCommand(this.#file(devboxId), command)
  }

  async list(devboxId: string, query: LogQuery): Promise<LogRecord[]> {
    const file = this.#file(devboxId)
    await file.flush()
    return Array.fromAsync(
      select(
        file.read(new AbortController().signal, () => true),
        query,
      ),
    )
  }

  follow(devboxId: string, query: LogQuery, signal: AbortSignal, hasEnded: () => boolean): AsyncGenerator<LogRecord> {
    const file = this.#file(devboxId)
    return select(
      file.read(signal, () => hasEnded() && file.isQuiet()),
      query,
    )
  }

  /** Call when the devbox changes its status, so that `follow` checks `hasEnded`. */
  wake(devboxId: string): void {
    this.#open.get(devboxId)?.wake()
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#open.values()].map((file) => file.flush()))
  }

  #file(devboxId: string): LogFile {
    const open = this.#open.get(devboxId)
    if (open) return open
    const file: LogFile = new LogFile(join(this.#folderOf(devboxId), 'log'), () => {
      if (this.#open.get(devboxId) === file) this.#open.delete(devboxId)
    })
    this.#open.set(devboxId, file)
    return file
  }
}

async function* select(records: AsyncIterable<LogRecord>, query: LogQuery): AsyncGenerator<LogRecord> {
  const { execution_id, shell_name } = query
  for await (const record of records)
    if ((execution_id ?? record.cmd_id) === record.cmd_id && (shell_name ?? record.shell_name) === record.shell_name)
      yield record
}

/** Numbered files with one record per line. The highest is appended to; the one before it is kept. */
class LogFile {
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

  append(record: NewRecord): number {
    const line = lineOf(record)
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
        if (lost > 0) batch.push(lineOf(ownWarning(`${countOf(lost, 'earlier record')} could not be written`)))
        await this.#store(batch.join(''))
        this.wake()
      } catch {
        // Probably a full disk. The loss is recorded with the next successful write.
        this.#lost += lost + batch.length - Math.min(lost, 1)
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
    if (this.isQuiet() && this.#readers === 0 && this.#lost === 0) this.#onIdle()
  }
}

async function* afterDropped(records: AsyncGenerator<LogRecord, boolean>): AsyncGenerator<LogRecord, boolean> {
  const next = await records.next()
  if (next.done) return next.value
  yield { timestamp_ms: next.value.timestamp_ms, ...ownWarning('Older records were deleted') }
  yield next.value
  return yield* records
}

const lineOf = (record: NewRecord): string => `${JSON.stringify({ timestamp_ms: Date.now(), ...record })}\n`

/** Unspecified: records about the log itself have a source that no command uses. */
const ownWarning = (message: string): NewRecord => ({ level: 'warn', source: 'kmsg', message })

const numbersIn = async (folder: string): Promise<number[]> =>
  ((await readdir(folder).catch(ifMissing)) ?? [])
    .flatMap((name) => /^(\d+)\.jsonl$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)

function* parse(text: string): Generator<LogRecord> {
  for (const line of text.split('\n')) {
    try {
      if (line !== '') yield JSON.parse(line)
    } catch {
      // Truncated by a crash or full disk.
    }
  }
}

interface LoggedCommand {
  source: LogSource
  cmd: string
  cmd_id?: string
  shell_name?: string | null
  /** Whether an earlier service has logged its start. */
  isContinued?: boolean
}

export interface CommandLog {
  output(stream: 'stdout' | 'stderr', chunk: Uint8Array): void
  end(exitCode: number): void
}

const logCommand = (file: LogFile, { source, cmd, cmd_id, shell_name, isContinued }: LoggedCommand): CommandLog => {
  const about = { source, ...(cmd_id && { cmd_id }), ...(shell_name && { shell_name }) }
  let left = maxCommandBytes
  const log = (level: 'info' | 'warn', message: string) => {
    if (left <= 0) return
    left -= file.append({ level, ...about, message })
    const note = 'Log limit of this command reached; later output is not logged'
    if (left <= 0) file.append({ level: 'warn', ...about, message: note })
  }
  // Unspecified: stderr lines are warnings. Many programs write progress there.
  const lines = {
    stdout: new LineSplitter((line) => log('info', line)),
    stderr: new LineSplitter((line) => log('warn', line)),
  }
  file.begin()
  if (!isContinued) file.append({ level: 'info', ...about, cmd: toMessage(Buffer.from(cmd)) })
  return {
    output(stream, chunk) {
      if (left > 0) lines[stream].push(chunk)
    },
    end(exitCode) {
      lines.stdout.end()
      lines.stderr.end()
      file.append({ level: exitCode === 0 ? 'info' : 'error', ...about, exit_code: exitCode })
      file.finish()
    },
  }
}

/** Splits bytes into lines, buffering about twice the longest message. */
class LineSplitter {
  readonly #emit: (line: string) => void
  #line = Buffer.alloc(0)
  #missing = 0

  constructor(emit: (line: string) => void) {
    this.#emit = emit
  }

  push(chunk: Uint8Array) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end))
      this.#endLine()
      start = end + 1
    }
    this.#add(chunk.subarray(start))
  }

  end() {
    if (this.#line.length > 0) this.#endLine()
  }

  #add(piece: Uint8Array) {
    this.#line = Buffer.concat([this.#line, piece])
    if (this.#line.length > 2 * maxMessageBytes) this.#truncate()
  }

  #truncate() {
    const start = overwrittenBytes(this.#line)
    if (start > 0) this.#missing = 0
    this.#missing += Math.max(0, this.#line.length - start - maxMessageBytes)
    this.#line = this.#line.subarray(start, start + maxMessageBytes)
  }

  #endLine() {
    if (this.#line.length > maxMessageBytes) this.#truncate()
    this.#emit(toMessage(this.#line, this.#line.length + this.#missing).replace(/\r+$/, ''))
    this.#line = Buffer.alloc(0)
    this.#missing = 0
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched for
const controlSequence = /\x1b\[[0-?]*[ -/]*[@-~]/g

/** Bytes before the last carriage return that text follows. */
const overwrittenBytes = (line: Buffer): number => {
  const visible = line.toString('latin1').replace(controlSequence, (each) => ' '.repeat(each.length))
  const lastText = visible.search(/[^\0- \x7f][\0- \x7f]*$/)
  return lastText === -1 ? 0 : Math.max(0, visible.lastIndexOf('\r', lastText))
}

const toMessage = (bytes: Buffer, length = bytes.length): string => {
  if (length <= maxMessageBytes) return bytes.toString('utf8')
  const end = lengthOfWholeCharacters(bytes.subarray(0, maxMessageBytes))
  return `${bytes.toString('utf8', 0, end)} … (${length - end} more bytes)`
}
