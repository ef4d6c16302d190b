import { type FollowOptions, type LiveHealth, noHealth } from '#lib/browser/live/follow.ts'
import { SnapshotStore } from '#lib/browser/live/snapshot-store.ts'
import type { LogRecord } from '#lib/contract/logs.ts'

export interface RecordsState {
  health: LiveHealth
  /** The devbox has ended, and this is all of its log. */
  hasEnded: boolean
  /** Why the log can no longer be followed. */
  lost: unknown
}

export const notFollowed: RecordsState = { health: noHealth, hasEnded: false, lost: null }

/** Resolves once the devbox has ended and rejects when asking again cannot help. */
export type RecordSource = (options: FollowOptions<'logs.tail'>) => Promise<void>

/** Something made of the log of one devbox for as long as someone looks at it. */
export abstract class FollowedRecords<Snapshot extends RecordsState> extends SnapshotStore<Snapshot> {
  readonly #source: RecordSource
  #position: string | undefined

  constructor(source: RecordSource, snapshot: Snapshot) {
    super(snapshot)
    this.#source = source
  }

  protected abstract take(records: readonly LogRecord[]): void
  /** What was taken comes again from the beginning. */
  protected abstract forget(): void

  /** Resolves when the devbox has ended, the log is lost, or `signal` aborts; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    try {
      await this.#source({
        signal,
        position: this.#position,
        onItems: (records, position) => {
          this.#position = position
          this.take(records)
          this.drawSoon()
        },
        onResync: () => this.forget(),
        onHealth: (health) => this.draw({ health } as Partial<Snapshot>),
      })
      if (!signal.aborted) this.draw({ hasEnded: true } as Partial<Snapshot>)
    } catch (lost) {
      this.draw({ lost } as Partial<Snapshot>)
    }
  }
}
