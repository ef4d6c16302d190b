import { isServer, QueryClient } from '@tanstack/react-query'
import { asksAgainInMs, isOutage, mayAsk, waitsAsTold } from '../api/failures.ts'

const maxRetries = 2

/** Reads are repeated when a repetition can help, and keep being repeated while the service is away. Writes never are. */
export const makeQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        // What the server has just rendered is not asked for again at once.
        staleTime: 5_000,
        // A page is rendered now or, with its retries, in the browser.
        retry: isServer ? false : (failures, error) => failures < maxRetries && isOutage(error) && !waitsAsTold(error),
        retryDelay: (attempt) => 500 * 2 ** attempt,
        refetchInterval: ({ state }) => asksAgainInMs(state.error),
        retryOnMount: mayAsk,
        refetchOnMount: mayAsk,
        refetchOnWindowFocus: mayAsk,
        refetchOnReconnect: mayAsk,
      },
      mutations: { retry: false },
    },
  })
