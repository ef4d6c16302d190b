import { type FollowOptions, initialHealth, type LiveHealth } from '#lib/browser/live/follow.ts'
import { SnapshotStore } from '#lib/browser/live/snapshot-store.ts'
import type { LogRecord } from '#lib/contract/logs.ts'

export interface LogState {
  health: LiveHealth
  /** The devbox has ended, so the log is complete. */
  hasEnded: boolean
  error: unknown
}

export const initialLogState: LogState = { health: initialHealth, hasEnded: false, error: null }

/** Resolves once the devbox has ended; rejects when a retry cannot help. */
export type LogSource = (options: FollowOptions<'logs.tail'>) => Promise<void>

export abstract class LogReader<Snapshot extends LogState> extends SnapshotStore<Snapshot> {
  readonly #source: LogSource
  #position: string | undefined

  constructor(source: LogSource, snapshot: Snapshot) {
    super(snapshot)
    this.#source = source
  }

  protected abstract add(records: readonly LogRecord[]): void
  /** Called before the log is sent again from the beginning. */
  protected abstract reset(): void

  /** Resolves when the devbox has ended, the log fails or `signal` aborts; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    try {
      await this.#source({
        signal,
        position: this.#position,
        onItems: (records, position) => {
          this.#position = position
          this.add(records)
          this.publishSoon()
        },
        onResync: () => this.reset(),
        onHealth: (health) => this.publish({ health } as Partial<Snapshot>),
      })
      if (!signal.aborted) this.publish({ hasEnded: true } as Partial<Snapshot>)
    } catch (error) {
      this.publish({ error } as Partial<Snapshot>)
    }
  }
}
