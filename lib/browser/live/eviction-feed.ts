import type { Eviction } from '#lib/contract/evictions.ts'
import type { LiveItems } from '#lib/protocol/live.ts'
import { type LiveHealth, noHealth } from './follow.ts'

/** The browser's view of pending evictions: a pure state, and the items that change it. */
export interface EvictionFeed {
  /** One per devbox, the earliest deadline first. */
  pending: readonly Eviction[]
  health: LiveHealth
}

export const emptyFeed: EvictionFeed = { pending: [], health: noHealth }

/** Of two deadlines of a devbox the later message wins. */
export const nextFeed = (feed: EvictionFeed, items: readonly LiveItems['evictions.watch'][]): EvictionFeed => {
  let pending = new Map(feed.pending.map((eviction) => [eviction.devbox_id, eviction]))
  for (const { event, data } of items) {
    if (event === 'snapshot') pending = new Map(data.evictions.map((eviction) => [eviction.devbox_id, eviction]))
    else if (event === 'eviction') pending.set(data.devbox_id, data)
    else pending.delete(data.devbox_id)
  }
  return { ...feed, pending: [...pending.values()].sort(byDeadline) }
}

const byDeadline = (a: Eviction, b: Eviction) =>
  a.eviction_deadline_ms - b.eviction_deadline_ms || (a.devbox_id < b.devbox_id ? -1 : 1)

export const evictionOf = (feed: EvictionFeed, devboxId: string): Eviction | undefined =>
  feed.pending.find(({ devbox_id }) => devbox_id === devboxId)

/** Milliseconds left until the deadline, never below zero. */
export const remainingMs = (
  { health }: Pick<EvictionFeed, 'health'>,
  eviction: Pick<Eviction, 'eviction_deadline_ms'>,
  nowMs: number,
): number => Math.max(0, eviction.eviction_deadline_ms - (nowMs + health.clockOffsetMs))

/** How long past its deadline an eviction still counts, as "now". */
const lingerMs = 3_000

/** Those that are still ahead or just happening: a service may go on reporting one for a while after its deadline. */
export const currentEvictions = ({ pending, health }: EvictionFeed, nowMs: number): Eviction[] =>
  pending.filter(({ eviction_deadline_ms }) => nowMs + health.clockOffsetMs < eviction_deadline_ms + lingerMs)

/** `04:12`, `1:04:12`; rounded up, so that 00:00 is only shown once the time is over. */
export const formatCountdown = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const clock = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return seconds >= 3600 ? `${Math.floor(seconds / 3600)}:${clock}` : clock
}
