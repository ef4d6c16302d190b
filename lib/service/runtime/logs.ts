import type { LogQuery, LogRecord, LogSource } from '#lib/contract/logs.ts'

export interface LoggedCommand {
  source: LogSource
  cmd: string
  cmd_id?: string
  shell_name?: string | null
}

/** Takes what a command wrote, as it comes; it is logged by line, up to a limit. */
export interface CommandLog {
  output(stream: 'stdout' | 'stderr', chunk: Uint8Array): void
  end(exitCode: number): void
}

/** What happened in each devbox, kept in `folderOf(devbox)/log.jsonl`; still there after its end. */
export class DevboxLogs {
  readonly #folderOf: (devboxId: string) => string

  constructor(folderOf: (devboxId: string) => string) {
    this.#folderOf = folderOf
  }

  append(_devboxId: string, _record: Omit<LogRecord, 'timestamp_ms'>): void {}

  command(_devboxId: string, _command: LoggedCommand): CommandLog {
    return { output: () => undefined, end: () => undefined }
  }

  async list(devboxId: string, _query: LogQuery): Promise<LogRecord[]> {
    this.#folderOf(devboxId)
    return []
  }

  /** What is there, then what comes, until `signal` aborts or the devbox has ended. */
  async *follow(_devboxId: string, _query: LogQuery, _signal: AbortSignal): AsyncGenerator<LogRecord> {}
}
