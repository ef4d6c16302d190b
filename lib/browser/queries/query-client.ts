import { environmentManager, QueryClient } from '@tanstack/react-query'
import { backoffMs } from '#lib/client/backoff.ts'
import { canRequest, hasRetryAfter, isOutage, retryDelayMs } from '../api/failures.ts'

const maxRetries = 2

/** Reads retry as long as a retry can help, and continue while the service is unavailable. Writes never retry. */
export const makeQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        // Data the server has just rendered is fresh.
        staleTime: 5_000,
        // The server renders immediately; the browser retries.
        retry: (failures, error) =>
          !environmentManager.isServer() && failures < maxRetries && isOutage(error) && !hasRetryAfter(error),
        retryDelay: (attempt) => backoffMs(attempt, { firstMs: 500, maxMs: 1_000 }),
        refetchInterval: ({ state }) => retryDelayMs(state.error),
        retryOnMount: canRequest,
        refetchOnMount: canRequest,
        refetchOnWindowFocus: canRequest,
        refetchOnReconnect: canRequest,
      },
      mutations: { retry: false },
    },
  })
