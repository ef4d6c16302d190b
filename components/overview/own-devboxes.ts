import { type TimeLeft, timeLeftOf } from '#components/devboxes/time-left.ts'
import { type Devbox, hasEnded, isOfTrial } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'

export interface OwnDevbox {
  devbox: Devbox
  left: TimeLeft | undefined
}

/**
 * Own devboxes from lists that may overlap: those with the least time left first, then others that have not ended, then
 * ended ones, each the newest first.
 */
export const ownDevboxes = (devboxes: readonly Devbox[], evictions: readonly Eviction[]): OwnDevbox[] => {
  const all = [...new Map(devboxes.map((devbox) => [devbox.id, devbox])).values()]
  // A service may ignore the origin that the lists ask for.
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
