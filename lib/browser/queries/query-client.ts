import { isServer, QueryClient } from '@tanstack/react-query'
import { canRequest, hasRetryAfter, isOutage, retryDelayMs } from '../api/failures.ts'

const maxRetries = 2

/** Reads are repeated when a repetition can help, and keep being repeated while the service is away. Writes never are. */
export const makeQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        // What the server has just rendered is not asked for again at once.
        staleTime: 5_000,
        // A page is rendered now or, with its retries, in the browser.
        retry: isServer
          ? false
          : (failures, error) => failures < maxRetries && isOutage(error) && !hasRetryAfter(error),
        retryDelay: (attempt) => 500 * 2 ** attempt,
        refetchInterval: ({ state }) => retryDelayMs(state.error),
        retryOnMount: canRequest,
        refetchOnMount: canRequest,
        refetchOnWindowFocus: canRequest,
        refetchOnReconnect: canRequest,
      },
      mutations: { retry: false },
    },
  })
