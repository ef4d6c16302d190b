import type { LogRecord } from '#lib/contract/logs.ts'
import { isoTime } from '../frame/format.ts'
import { isReadByFiles } from './files-mark.ts'
import { FollowedRecords, notFollowed, type RecordSource, type RecordsState } from './followed-records.ts'

export interface LogSnapshot extends RecordsState {
  /** The latest, oldest first. */
  records: readonly NumberedRecord[]
  /** How many came before those and are not kept. */
  dropped: number
}

/** `number` counts from the devbox's first record and names it for as long as the log is followed. */
export interface NumberedRecord extends LogRecord {
  number: number
  /** Of a command by which the Files tab reads. */
  isReadByFiles: boolean
}

/** As many as anyone scrolls through, and as few as a page carries without effort. */
export const maxKept = 5_000

/** The log of one devbox for as long as someone looks at it. */
export class LogFeed extends FollowedRecords<LogSnapshot> {
  #records: NumberedRecord[] = []
  #total = 0
  readonly #readByFiles = new Set<string>()

  constructor(source: RecordSource) {
    super(source, { records: [], dropped: 0, ...notFollowed })
  }

  protected override take(records: readonly LogRecord[]) {
    for (const record of records) {
      const { cmd, cmd_id } = record
      if (cmd_id && isReadByFiles(cmd)) this.#readByFiles.add(cmd_id)
      const isOfFiles = cmd_id ? this.#readByFiles.has(cmd_id) : isReadByFiles(cmd)
      this.#records.push({ ...record, number: this.#total++, isReadByFiles: isOfFiles })
    }
    // Cut in steps: dropping one for each that comes would copy the rest every time.
    if (this.#records.length > maxKept * 1.1) this.#records = this.#records.slice(-maxKept)
  }

  protected override forget() {
    this.#records = []
    this.#total = 0
    this.#readByFiles.clear()
  }

  protected override gathered() {
    const records = this.#records.slice(-maxKept)
    return { records, dropped: this.#total - records.length }
  }
}

/** A record as one line of text, for the clipboard and for a file. */
export const logLine = ({ timestamp_ms, level, source, shell_name, ...record }: LogRecord): string =>
  [isoTime(timestamp_ms), level, source, shell_name && `[${shell_name}]`, logText(record)].filter(Boolean).join(' ')

/** What a record says, without when and where. */
export const logText = ({ cmd, exit_code, message }: Pick<LogRecord, 'cmd' | 'exit_code' | 'message'>): string =>
  [cmd != null && `$ ${cmd}`, message, exit_code != null && `exit ${exit_code}`]
    .filter((part) => typeof part === 'string')
    .join(' ')
