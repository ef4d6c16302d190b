import { type TimeLeft, timeLeftOf } from '#components/devboxes/time-left.tsx'
import { type Devbox, hasEnded, isOfTrial } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'

export interface OwnDevbox {
  devbox: Devbox
  left: TimeLeft | undefined
}

/** Merges overlapping lists. Least time left first, then other active devboxes, then ended ones, newest first. */
export const ownDevboxes = (
  devboxes: readonly Devbox[],
  evictions: readonly Pick<Alert, 'devbox_id' | 'deadline_ms'>[],
): OwnDevbox[] => {
  const all = [...new Map(devboxes.map((devbox) => [devbox.id, devbox])).values()]
  // Some services ignore the origin filter of the lists.
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
  return rows
}
