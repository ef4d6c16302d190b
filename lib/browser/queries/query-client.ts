import { isServer, QueryClient } from '@tanstack/react-query'
import { canRequest, hasRetryAfter, isOutage, retryDelayMs } from '../api/failures.ts'

const maxRetries = 2

/** Reads retry as long as a retry can help, and continue while the service is away. Writes never retry. */
export const makeQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        // Data the server has just rendered is fresh.
        staleTime: 5_000,
        // The server renders immediately; the browser retries.
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
