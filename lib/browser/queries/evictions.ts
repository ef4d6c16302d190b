import type { QueryClient } from '@tanstack/react-query'
import { type EvictionFeed, emptyFeed, nextFeed } from '../live/eviction-feed.ts'
import { followFeed } from '../live/follow-query.ts'
import { devboxKeys } from './devbox-keys.ts'
import { pushed } from './list/pages.ts'

export const evictionQueries = {
  /** Pushed by `followEvictions`, never fetched: banner, toasts, row badges and the tab title read this one entry. */
  feed: () => pushed<EvictionFeed>(['evictions'], emptyFeed),
}

/** Feeds the cache until the returned function is called. */
export const followEvictions = (client: QueryClient): (() => void) =>
  followFeed(client, {
    queryKey: evictionQueries.feed().queryKey,
    empty: emptyFeed,
    topic: { endpoint: 'evictions.watch' },
    next: nextFeed,
    onItems: (items) => {
      // The eviction has happened or was taken back: either way the devbox's status may be another one now.
      if (items.some(({ event }) => event === 'removed')) void client.invalidateQueries({ queryKey: devboxKeys.all })
    },
  })
