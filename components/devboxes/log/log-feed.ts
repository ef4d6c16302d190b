import { isoTime } from '#lib/browser/format.ts'
import { follow } from '#lib/browser/live/follow.ts'
import { joinLines, readLines, type Span } from '#lib/browser/text/console-text.ts'
import { noStyle, type TextStyle } from '#lib/browser/text/text-style.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import { isFilesTabCommand } from '#lib/protocol/files-tab-mark.ts'
import { initialLogState, LogReader, type LogSource, type LogState } from './log-reader.ts'

export interface LogSnapshot extends LogState {
  records: readonly NumberedRecord[]
  dropped: number
}

export interface NumberedRecord extends LogRecord {
  /** Counts from the first record of the devbox: a stable key. */
  number: number
  isFromFilesTab: boolean
  /** Command, message and exit status as a terminal shows them. */
  spans: readonly Span[]
  text: string
}

export const maxRecords = 5_000

export class LogFeed extends LogReader<LogSnapshot> {
  #records: NumberedRecord[] = []
  #total = 0
  readonly #filesTabCommands = new Set<string>()
  /** The style each command's next line starts in. Keyed by level too: stdout and stderr have different levels. */
  readonly #styles = new Map<string, TextStyle>()

  constructor(source: LogSource) {
    super(source, { records: [], dropped: 0, ...initialLogState })
  }

  protected override add(records: readonly LogRecord[]) {
    for (const record of records) {
      const { cmd, cmd_id } = record
      if (cmd_id && isFilesTabCommand(cmd)) this.#filesTabCommands.add(cmd_id)
      const isFromFilesTab = cmd_id ? this.#filesTabCommands.has(cmd_id) : isFilesTabCommand(cmd)
      const spans = this.#spansOf(record)
      const text = spans.map((span) => span.text).join('')
      this.#records.push({ ...record, number: this.#total++, isFromFilesTab, spans, text })
    }
    // Trimmed in steps, so that most records cost no copy of the array.
    if (this.#records.length > maxRecords * 1.1) this.#records = this.#records.slice(-maxRecords)
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

  protected override reset() {
    this.#records = []
    this.#total = 0
    this.#filesTabCommands.clear()
    this.#styles.clear()
  }

  protected override collect() {
    const records = this.#records.slice(-maxRecords)
    return { records, dropped: this.#total - records.length }
  }
}

export const devboxLog = (id: string): LogFeed =>
  new LogFeed((options) => follow({ endpoint: 'logs.tail', params: { id } }, options))

/** A record as one line of text, for the clipboard and for download. */
export const logLine = ({ timestamp_ms, level, source, shell_name, text }: LogRecord & { text: string }): string =>
  [isoTime(timestamp_ms), level, source, shell_name && `[${shell_name}]`, text].filter(Boolean).join(' ')
