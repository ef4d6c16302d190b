import { isReadByFiles } from '#components/files/read-mark.ts'
import { isoTime } from '#lib/browser/format.ts'
import { joinLines, readLines, type Span } from '#lib/browser/text/console-text.ts'
import { noStyle, type TextStyle } from '#lib/browser/text/text-style.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
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
  /** The command, message and exit status, as a terminal shows them. */
  spans: readonly Span[]
  /** The same without styles. */
  text: string
}

/** As many as anyone scrolls through, and as few as a page carries without effort. */
export const maxKept = 5_000

/** The log of one devbox for as long as someone looks at it. */
export class LogFeed extends FollowedRecords<LogSnapshot> {
  #records: NumberedRecord[] = []
  #total = 0
  readonly #readByFiles = new Set<string>()
  /** The style in which the next line of a command begins, by command and level: each stream has a level of its own. */
  readonly #styles = new Map<string, TextStyle>()

  constructor(source: RecordSource) {
    super(source, { records: [], dropped: 0, ...notFollowed })
  }

  protected override take(records: readonly LogRecord[]) {
    for (const record of records) {
      const { cmd, cmd_id } = record
      if (cmd_id && isReadByFiles(cmd)) this.#readByFiles.add(cmd_id)
      const isOfFiles = cmd_id ? this.#readByFiles.has(cmd_id) : isReadByFiles(cmd)
      const spans = this.#spansOf(record)
      const text = spans.map((span) => span.text).join('')
      this.#records.push({ ...record, number: this.#total++, isReadByFiles: isOfFiles, spans, text })
    }
    // Cut in steps: dropping one for each that comes would copy the rest every time.
    if (this.#records.length > maxKept * 1.1) this.#records = this.#records.slice(-maxKept)
  }

  #spansOf({ cmd, cmd_id, level, message, exit_code }: LogRecord): Span[] {
    const key = `${cmd_id} ${level}`
    const spans: Span[] = []
    const add = (...more: readonly Span[]) => {
      if (spans.length > 0) spans.push({ text: ' ', style: noStyle })
      spans.push(...more)
    }
    if (cmd != null) add({ text: `$ ${cmd}`, style: noStyle })
    if (typeof message === 'string') {
      const { lines, style } = readLines(message, this.#styles.get(key))
      if (cmd_id && style !== noStyle) this.#styles.set(key, style)
      else this.#styles.delete(key)
      add(...joinLines(lines))
    }
    if (exit_code != null) {
      for (const each of this.#styles.keys()) if (each.startsWith(`${cmd_id} `)) this.#styles.delete(each)
      add({ text: `exit ${exit_code}`, style: noStyle })
    }
    return spans
  }

  protected override forget() {
    this.#records = []
    this.#total = 0
    this.#readByFiles.clear()
    this.#styles.clear()
  }

  protected override gathered() {
    const records = this.#records.slice(-maxKept)
    return { records, dropped: this.#total - records.length }
  }
}

/** A record as one line of text, for the clipboard and for a file. */
export const logLine = ({ timestamp_ms, level, source, shell_name, text }: LogRecord & { text: string }): string =>
  [isoTime(timestamp_ms), level, source, shell_name && `[${shell_name}]`, text].filter(Boolean).join(' ')
