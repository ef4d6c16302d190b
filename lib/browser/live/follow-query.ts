import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { LiveEndpoint, LiveItems, LiveTopic } from '#lib/protocol/live.ts'
import { follow, type LiveHealth } from './follow.ts'

/** Keeps what the cache has under `queryKey` as the service answers it, until the returned function is called. */
export const followQuery = <E extends LiveEndpoint>(
  client: QueryClient,
  queryKey: QueryKey,
  topic: LiveTopic<E>,
  read: (answer: LiveItems[E]) => unknown,
): (() => void) => {
  const leaving = new AbortController()
  // The query itself finds out why the service does not answer, says so, and goes on asking.
  const ask = () => void client.invalidateQueries({ queryKey })
  follow(topic, {
    signal: leaving.signal,
    onItems: (answers) => {
      const last = answers.at(-1)
      if (last) client.setQueryData(queryKey, read(last))
    },
    onHealth: ({ state }) => state === 'lost' && ask(),
    onPoll: ask,
  }).catch(ask)
  return () => leaving.abort()
}

interface FollowedFeed<E extends LiveEndpoint, Feed> {
  queryKey: QueryKey
  empty: Feed
  topic: LiveTopic<E>
  next: (feed: Feed, items: LiveItems[E][]) => Feed
  onItems: (items: LiveItems[E][]) => void
}

/** Builds the feed that the cache has under `queryKey` from the items of a topic, until the returned function is called. */
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
