import type { LogRecord } from '#lib/contract/logs.ts'
import { pause, retryMs } from '../api/retry.ts'

/** Where a feed gets its records from. */
export interface LogSource {
  /** What has happened, then what happens; ends cleanly once the devbox has ended. */
  open(signal: AbortSignal): AsyncIterable<LogRecord>
  /** True when asking again cannot help. */
  isLost(error: unknown): boolean
}

export interface LogSnapshot {
  /** The latest, oldest first. */
  records: readonly NumberedRecord[]
  /** How many came before those and are not kept. */
  dropped: number
  state: 'live' | 'reconnecting' | 'ended' | 'lost'
  /** Since when `state` is what it is; this browser's clock. */
  sinceMs: number
  /** Why the log can no longer be followed. */
  lost: unknown
}

/** `number` counts from the devbox's first record and names it for as long as the log is followed. */
export interface NumberedRecord extends LogRecord {
  number: number
}

/** As many as anyone scrolls through, and as few as a page carries without effort. */
export const maxKept = 5_000
/** A flood comes in thousands of records; drawing each would take longer than they take to come. */
const drawPauseMs = 50

/** The log of one devbox for as long as someone looks at it. Made for useSyncExternalStore. */
export class LogFeed {
  readonly #source: LogSource
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  #records: NumberedRecord[] = []
  #total = 0
  #snapshot: LogSnapshot
  #drawing: ReturnType<typeof setTimeout> | undefined

  constructor(source: LogSource, now: () => number = Date.now) {
    this.#source = source
    this.#now = now
    this.#snapshot = { records: [], dropped: 0, state: 'live', sinceMs: now(), lost: null }
  }

  getSnapshot = (): LogSnapshot => this.#snapshot

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when the devbox has ended, the log is lost, or `signal` aborts; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      if (attempt > 0) await pause(retryMs(attempt), signal)
      // A stream begins with all that has happened. What is shown stays until that comes again.
      let isFirst = true
      try {
        for await (const record of this.#source.open(signal)) {
          if (isFirst) {
            this.#records = []
            this.#total = 0
            this.#setState('live')
          }
          isFirst = false
          attempt = 0
          this.#add(record)
        }
        if (!signal.aborted) this.#setState('ended')
        return
      } catch (error) {
        if (signal.aborted) return
        if (this.#source.isLost(error)) {
          this.#setState('lost', error)
          return
        }
        this.#setState('reconnecting')
      }
    }
  }

  #add(record: LogRecord) {
    this.#records.push({ ...record, number: this.#total++ })
    // Cut in steps: dropping one for each that comes would copy the rest every time.
    if (this.#records.length > maxKept * 1.1) this.#records = this.#records.slice(-maxKept)
    this.#drawing ??= setTimeout(() => this.#draw(), drawPauseMs)
  }

  #setState(state: LogSnapshot['state'], lost: unknown = null) {
    if (state === this.#snapshot.state) return
    this.#snapshot = { ...this.#snapshot, state, lost, sinceMs: this.#now() }
    this.#draw()
  }

  #draw() {
    clearTimeout(this.#drawing)
    this.#drawing = undefined
    const records = this.#records.slice(-maxKept)
    this.#snapshot = { ...this.#snapshot, records, dropped: this.#total - records.length }
    for (const listener of this.#listeners) listener()
  }
}

/** A record as one line of text, for the clipboard and for a file. */
export const logLine = ({ timestamp_ms, level, source, shell_name, ...record }: LogRecord): string =>
  [new Date(timestamp_ms).toISOString(), level, source, shell_name && `[${shell_name}]`, logText(record)]
    .filter(Boolean)
    .join(' ')

/** What a record says, without when and where. */
export const logText = ({ cmd, exit_code, message }: Pick<LogRecord, 'cmd' | 'exit_code' | 'message'>): string =>
  [cmd != null && `$ ${cmd}`, message, exit_code != null && `exit ${exit_code}`]
    .filter((part) => typeof part === 'string')
    .join(' ')
