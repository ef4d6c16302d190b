import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { leaveForSignIn } from '../api/browser-api.ts'
import { connectFeed, type EvictionFeed, emptyFeed, nextFeed } from '../live/eviction-stream.ts'
import { devboxKeys } from './devboxes.ts'

export const evictionQueries = {
  /** Pushed by `followEvictions`, never fetched: banner, toasts, row badges and the tab title read this one entry. */
  feed: () =>
    queryOptions({
      queryKey: ['evictions'],
      queryFn: () => emptyFeed,
      enabled: false,
      initialData: emptyFeed,
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: Number.POSITIVE_INFINITY,
    }),
}

/** Feeds the cache from the relay until the returned function is called. */
export const followEvictions = (queryClient: QueryClient): (() => void) => {
  const { queryKey } = evictionQueries.feed()
  const connection = connectFeed({
    url: '/api/evictions',
    onSignedOut: leaveForSignIn,
    onEvent(event) {
      queryClient.setQueryData<EvictionFeed>(queryKey, (feed = emptyFeed) => nextFeed(feed, event, Date.now()))
      // The eviction has happened or was taken back: either way the devbox's status may be another one now.
      if (event.event === 'removed') void queryClient.invalidateQueries({ queryKey: devboxKeys.all })
    },
  })
  const check = () => {
    if (document.visibilityState === 'visible') connection.check()
  }
  window.addEventListener('online', check)
  document.addEventListener('visibilitychange', check)
  return () => {
    window.removeEventListener('online', check)
    document.removeEventListener('visibilitychange', check)
    connection.close()
  }
}
