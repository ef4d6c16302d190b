import type { LogRecord } from '#lib/contract/logs.ts'
import { type FollowOptions, type LiveHealth, noHealth } from './follow.ts'
import { SnapshotStore } from './snapshot-store.ts'

export interface LogSnapshot {
  /** The latest, oldest first. */
  records: readonly NumberedRecord[]
  /** How many came before those and are not kept. */
  dropped: number
  health: LiveHealth
  /** The devbox has ended, and this is all of its log. */
  hasEnded: boolean
  /** Why the log can no longer be followed. */
  lost: unknown
}

/** `number` counts from the devbox's first record and names it for as long as the log is followed. */
export interface NumberedRecord extends LogRecord {
  number: number
}

/** As many as anyone scrolls through, and as few as a page carries without effort. */
export const maxKept = 5_000

/** The log of one devbox for as long as someone looks at it. */
export class LogFeed extends SnapshotStore<LogSnapshot> {
  readonly #source: (options: FollowOptions<'logs.tail'>) => Promise<void>
  #records: NumberedRecord[] = []
  #total = 0
  #position: string | undefined

  /** `source` resolves once the devbox has ended and rejects when asking again cannot help. */
  constructor(source: (options: FollowOptions<'logs.tail'>) => Promise<void>) {
    super({ records: [], dropped: 0, health: noHealth, hasEnded: false, lost: null })
    this.#source = source
  }

  /** Resolves when the devbox has ended, the log is lost, or `signal` aborts; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    try {
      await this.#source({
        signal,
        position: this.#position,
        onItems: (records, position) => {
          this.#position = position
          for (const record of records) this.#records.push({ ...record, number: this.#total++ })
          // Cut in steps: dropping one for each that comes would copy the rest every time.
          if (this.#records.length > maxKept * 1.1) this.#records = this.#records.slice(-maxKept)
          this.drawSoon()
        },
        onResync: () => {
          this.#records = []
          this.#total = 0
        },
        onHealth: (health) => this.draw({ health }),
      })
      if (!signal.aborted) this.draw({ hasEnded: true })
    } catch (lost) {
      this.draw({ lost })
    }
  }

  protected override gathered() {
    const records = this.#records.slice(-maxKept)
    return { records, dropped: this.#total - records.length }
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
