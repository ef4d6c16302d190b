import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { LiveEndpoint, LiveItems, LiveTopic } from '#lib/protocol/live.ts'
import { follow, type LiveHealth } from './follow.ts'

/** Updates a query from a topic until the returned function is called. */
export const followQuery = <E extends LiveEndpoint>(
  client: QueryClient,
  queryKey: QueryKey,
  topic: LiveTopic<E>,
  read: (item: LiveItems[E]) => unknown,
): (() => void) => {
  const leaving = new AbortController()
  // The query's own request reports the error and retries.
  const refetch = () => void client.invalidateQueries({ queryKey })
  follow(topic, {
    signal: leaving.signal,
    onItems: (items) => {
      const last = items.at(-1)
      if (last) client.setQueryData(queryKey, read(last))
    },
    onHealth: ({ state }) => state === 'lost' && refetch(),
    onPoll: refetch,
  }).catch(refetch)
  return () => leaving.abort()
}

interface FollowedFeed<E extends LiveEndpoint, Feed> {
  queryKey: QueryKey
  empty: Feed
  topic: LiveTopic<E>
  next: (feed: Feed, items: LiveItems[E][]) => Feed
  onItems: (items: LiveItems[E][]) => void
}

/** Reduces the items of a topic into a cached feed until the returned function is called. */
export const followFeed = <E extends LiveEndpoint, Feed extends { health: LiveHealth }>(
  client: QueryClient,
  { queryKey, empty, topic, next, onItems }: FollowedFeed<E, Feed>,
): (() => void) => {
  const change = (update: (feed: Feed) => Feed) => client.setQueryData<Feed>(queryKey, (feed = empty) => update(feed))
  const leaving = new AbortController()
  follow(topic, {
    signal: leaving.signal,
    onItems: (items) => {
      change((feed) => next(feed, items))
      onItems(items)
    },
    onHealth: (health) => change((feed) => ({ ...feed, health })),
  }).catch((error) => change((feed) => ({ ...feed, health: { ...feed.health, state: 'lost', error } })))
  return () => leaving.abort()
}
