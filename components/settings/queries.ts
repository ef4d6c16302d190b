import { queryOptions } from '@tanstack/react-query'
import { fetchConsoleJson } from '#lib/browser/api/console-api.ts'
import type { ConnectionView } from '#lib/protocol/connection.ts'

export const connectionQueries = {
  /** The console's view of its service; `page_ms` is the page's own round trip to the console. */
  now: () =>
    queryOptions({
      queryKey: ['connection', 'now'],
      queryFn: async ({ signal }): Promise<ConnectionView & { page_ms: number }> => {
        const startedMs = performance.now()
        const view = await fetchConsoleJson<ConnectionView>('/api/connection', signal)
        const tookMs = performance.now() - startedMs
        return { ...view, page_ms: Math.max(0, tookMs - ('took_ms' in view.upstream ? view.upstream.took_ms : 0)) }
      },
      staleTime: 0,
      refetchInterval: 5_000,
    }),
}
