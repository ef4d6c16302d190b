import { type Devbox, hasEnded, isOfTrial } from '#lib/contract/devboxes.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import { unattendedEnd } from '#lib/wire/devbox-ends.ts'

/** What comes first of all that ends or suspends a devbox unasked. */
export interface TimeLeft {
  at_ms: number
  cause: 'eviction' | 'keep_alive' | 'idle'
  is_at_least: boolean
  deletesDisk: boolean
}

export interface OwnDevbox {
  devbox: Devbox
  left: TimeLeft | undefined
}

export const timeLeftOf = (devbox: Devbox, eviction: Eviction | undefined): TimeLeft | undefined => {
  const end = unattendedEnd(devbox)
  const unattended = end && {
    at_ms: end.at_ms,
    cause: end.cause,
    is_at_least: end.is_at_least,
    deletesDisk: end.action === 'shutdown',
  }
  const evicted = eviction && {
    at_ms: eviction.eviction_deadline_ms,
    cause: 'eviction' as const,
    is_at_least: false,
    deletesDisk: false,
  }
  if (!evicted || !unattended) return evicted ?? unattended
  return evicted.at_ms <= unattended.at_ms ? evicted : unattended
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
