import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { LiveEndpoint, LiveItems, LiveTopic } from '#lib/wire/live.ts'
import { follow } from './follow.ts'

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
  }).catch(ask)
  return () => leaving.abort()
}
