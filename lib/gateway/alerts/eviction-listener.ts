import type { Eviction } from '#lib/contract/evictions.ts'
import type { RelayData, RelayEvent } from '#lib/protocol/evictions.ts'

/** Receives an account's evictions. */
export interface EvictionListener {
  /** Once, with everything that is pending. */
  start(everything: RelayData['snapshot']): void
  tell(event: RelayEvent): void
  /** No more events follow. */
  end(): void
}

/** The watch over the evictions of one account. */
export interface EvictionWatch {
  /** The last sign of life of the service's stream. */
  readonly lastHeardMs: number | null
  readonly unreadable: UnreadableEvents
  /** Whether the current connection may still be repeating what was pending before it opened. */
  readonly isReplaying: boolean
  /**
   * Sends `listener` everything pending, and then what changes, until it leaves. `known` are evictions it heard of
   * earlier: they count as pending until the service no longer repeats them.
   */
  join(listener: EvictionListener, known?: readonly Eviction[]): void
  leave(listener: EvictionListener): void
  everything(): RelayData['snapshot']
  deadlineOf(devboxId: string): number | undefined
  refresh(): void
  /** The service withdrew the eviction of a devbox, which its stream does not report. */
  withdraw(devboxId: string): void
  /** A call with this key succeeded. */
  onKeyAccepted(apiKey: string): void
  close(): void
}

/** Events of the service's stream that could not be understood, since it was first watched. */
export interface UnreadableEvents {
  count: number
  /** Why the last of them could not; null while there was none. */
  reason: string | null
}
