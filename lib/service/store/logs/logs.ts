import { join } from 'node:path'
import type { LogQuery, LogRecord } from '#lib/contract/logs.ts'
import { type CommandLog, type LoggedCommand, logCommand } from './command-log.ts'
import { LogFile } from './log-file.ts'

// Log files kept in memory while nothing is written to them.
const maxIdle = 256

/**
 * What happened in each devbox, kept in files below `folderOf(devbox)/log`; still there after its end. Writing never
 * waits: records go to the disk in the order they came, soon after. What a full disk refuses is lost, and counted.
 */
export class DevboxLogs {
  readonly #folderOf: (devboxId: string) => string
  readonly #open = new Map<string, LogFile>()

  constructor(folderOf: (devboxId: string) => string) {
    this.#folderOf = folderOf
  }

  append(devboxId: string, record: Omit<LogRecord, 'timestamp_ms'>): void {
    this.#file(devboxId).append(record)
  }

  command(devboxId: string, command: LoggedCommand): CommandLog {
    return logCommand(this.#file(devboxId), command)
  }

  async list(devboxId: string, query: LogQuery): Promise<LogRecord[]> {
    const file = this.#file(devboxId)
    const records: LogRecord[] = []
    await file.written()
    for await (const record of file.read(new AbortController().signal, () => true))
      if (matches(record, query)) records.push(record)
    return records
  }

  /** The records kept, then new ones, until `signal` aborts or `isOver` answers that the devbox has ended. */
  async *follow(
    devboxId: string,
    query: LogQuery,
    signal: AbortSignal,
    isOver: () => boolean,
  ): AsyncGenerator<LogRecord> {
    const file = this.#file(devboxId)
    for await (const record of file.read(signal, () => isOver() && file.isQuiet()))
      if (matches(record, query)) yield record
  }

  /** To be called when the devbox changes its status: `follow` asks `isOver` again. */
  wake(devboxId: string): void {
    this.#open.get(devboxId)?.wake()
  }

  /** Resolves when everything appended so far is in the files. */
  async flush(): Promise<void> {
    await Promise.all([...this.#open.values()].map((file) => file.written()))
  }

  #file(devboxId: string): LogFile {
    const known = this.#open.get(devboxId)
    if (known) return known
    const file: LogFile = new LogFile(join(this.#folderOf(devboxId), 'log'), () => this.#forgetSome())
    this.#open.set(devboxId, file)
    return file
  }

  #forgetSome() {
    if (this.#open.size <= maxIdle) return
    for (const [devboxId, file] of this.#open) if (file.isIdle()) this.#open.delete(devboxId)
  }
}

const matches = ({ cmd_id, shell_name }: LogRecord, query: LogQuery): boolean =>
  (query.execution_id === undefined || cmd_id === query.execution_id) &&
  (query.shell_name === undefined || shell_name === query.shell_name)
