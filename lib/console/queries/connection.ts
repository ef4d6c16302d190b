import { queryOptions } from '@tanstack/react-query'
import type { ConnectionView } from '#lib/wire/connection.ts'
import { askConsoleSignedIn } from '../api/ask-console.ts'

/** How the console reaches its service, and how long this page waits for the console beside it. */
export const connectionQueries = {
  now: () =>
    queryOptions({
      queryKey: ['connection', 'now'],
      queryFn: async ({ signal }): Promise<ConnectionView & { page_ms: number }> => {
        const startedMs = performance.now()
        const view: ConnectionView = await (await askConsoleSignedIn('/api/connection', { signal })).json()
        const tookMs = performance.now() - startedMs
        return { ...view, page_ms: Math.max(0, tookMs - ('took_ms' in view.upstream ? view.upstream.took_ms : 0)) }
      },
      staleTime: 0,
      refetchInterval: 5_000,
    }),
}
