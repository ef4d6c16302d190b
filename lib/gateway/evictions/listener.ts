import type { RelayData, RelayEvent } from '#lib/wire/evictions.ts'

/** Somebody who is told of an account's evictions. */
export interface EvictionListener {
  /** Once, with everything that is known. */
  start(everything: RelayData['snapshot']): void
  tell(event: RelayEvent): void
  /** There will be no more. */
  end(): void
}

/** The watch over the evictions of one account. */
export interface EvictionWatch {
  /** The last sign of life of the service's stream. */
  readonly lastHeardMs: number | null
  readonly unreadable: number
  /** Tells `listener` everything, and then what changes, until it leaves. */
  join(listener: EvictionListener): void
  leave(listener: EvictionListener): void
  everything(): RelayData['snapshot']
  refresh(): void
  /** The service has taken the eviction of a devbox back, which its stream does not tell. */
  withdraw(devboxId: string): void
  close(): void
}
