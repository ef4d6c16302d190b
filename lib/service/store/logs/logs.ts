import { join } from 'node:path'
import type { LogQuery, LogRecord } from '#lib/contract/logs.ts'
import { type CommandLog, type LoggedCommand, logCommand } from './command-log.ts'
import { LogFile } from './log-file.ts'

const maxIdleFiles = 256

/**
 * Logs of devboxes, in files below `folderOf(devbox)/log`, also after the devbox has ended. Writes are asynchronous and in
 * order; records that a full disk rejects are counted and dropped.
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
    await file.flush()
    for await (const record of file.read(new AbortController().signal, () => true))
      if (matches(record, query)) records.push(record)
    return records
  }

  async *follow(
    devboxId: string,
    query: LogQuery,
    signal: AbortSignal,
    hasEnded: () => boolean,
  ): AsyncGenerator<LogRecord> {
    const file = this.#file(devboxId)
    for await (const record of file.read(signal, () => hasEnded() && file.isQuiet()))
      if (matches(record, query)) yield record
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
    const file: LogFile = new LogFile(join(this.#folderOf(devboxId), 'log'), () => this.#evictIdle())
    this.#open.set(devboxId, file)
    return file
  }

  #evictIdle() {
    if (this.#open.size <= maxIdleFiles) return
    for (const [devboxId, file] of this.#open) if (file.isIdle()) this.#open.delete(devboxId)
  }
}

const matches = ({ cmd_id, shell_name }: LogRecord, query: LogQuery): boolean =>
  (query.execution_id === undefined || cmd_id === query.execution_id) &&
  (query.shell_name === undefined || shell_name === query.shell_name)
