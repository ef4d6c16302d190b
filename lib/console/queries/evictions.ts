import type { QueryClient } from '@tanstack/react-query'
import { type EvictionFeed, emptyFeed, nextFeed } from '../live/eviction-feed.ts'
import { follow } from '../live/follow.ts'
import { devboxKeys } from './devbox-keys.ts'
import { pushed } from './list/pages.ts'

export const evictionQueries = {
  /** Pushed by `followEvictions`, never fetched: banner, toasts, row badges and the tab title read this one entry. */
  feed: () => pushed<EvictionFeed>(['evictions'], emptyFeed),
}

/** Feeds the cache until the returned function is called. */
export const followEvictions = (queryClient: QueryClient): (() => void) => {
  const { queryKey } = evictionQueries.feed()
  const change = (next: (feed: EvictionFeed) => EvictionFeed) =>
    queryClient.setQueryData<EvictionFeed>(queryKey, (feed = emptyFeed) => next(feed))
  const leaving = new AbortController()
  follow(
    { endpoint: 'evictions.watch' },
    {
      signal: leaving.signal,
      onItems(items) {
        change((feed) => items.reduce(nextFeed, feed))
        // The eviction has happened or was taken back: either way the devbox's status may be another one now.
        if (items.some(({ event }) => event === 'removed'))
          void queryClient.invalidateQueries({ queryKey: devboxKeys.all })
      },
      onHealth: (health) => change((feed) => ({ ...feed, health })),
    },
  ).catch((error) => change((feed) => ({ ...feed, health: { ...feed.health, state: 'lost', error } })))
  return () => leaving.abort()
}
