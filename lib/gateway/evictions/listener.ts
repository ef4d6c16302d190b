import type { RelayData, RelayEvent } from '#lib/wire/evictions.ts'

/** Somebody who is told of an account's evictions. */
export interface EvictionListener {
  /** Once, with everything that is known. */
  start(everything: RelayData['snapshot']): void
  tell(event: RelayEvent): void
  /** There will be no more. */
  end(): void
}
