import { type TimeLeft, timeLeftOf } from '#components/devboxes/time-left.ts'
import { type Devbox, hasEnded, isOfTrial } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'

export interface OwnDevbox {
  devbox: Devbox
  left: TimeLeft | undefined
}

/**
 * Devboxes that somebody made, from several lists that may overlap: those with the least time left first, then the
 * others that have not ended, then what has, each the newest first. Devboxes of trials are counted, not shown.
 */
export const ownDevboxes = (
  devboxes: readonly Devbox[],
  evictions: readonly Eviction[],
): { rows: OwnDevbox[]; ofTrials: number } => {
  const all = [...new Map(devboxes.map((devbox) => [devbox.id, devbox])).values()]
  const own = all.filter((devbox) => !isOfTrial(devbox))
  const pending = new Map(evictions.map((eviction) => [eviction.devbox_id, eviction]))
  const rows = own.map((devbox) => ({ devbox, left: timeLeftOf(devbox, pending.get(devbox.id)) }))
  const rank = ({ devbox, left }: OwnDevbox) => (left ? 0 : hasEnded(devbox.status) ? 2 : 1)
  rows.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      (a.left?.at_ms ?? 0) - (b.left?.at_ms ?? 0) ||
      b.devbox.create_time_ms - a.devbox.create_time_ms,
  )
  return { rows, ofTrials: all.length - own.length }
}
