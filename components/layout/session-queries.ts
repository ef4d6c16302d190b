import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { fetchConsole, runSignOut } from '#lib/browser/api/console-api.ts'
import { readError } from '#lib/client/api-error.ts'
import type { SessionView } from '#lib/protocol/session.ts'

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', body?: unknown, query = ''): Promise<Response> =>
  fetchConsole(`/api/session${query}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })

export const sessionQueries = {
  /** The session of the browser's cookie, which may no longer be the page's. */
  now: () =>
    queryOptions({
      queryKey: ['session', 'now'],
      queryFn: async (): Promise<SessionView> => {
        const response = await fetch('/api/session', { cache: 'no-store' })
        if (!response.ok) throw await readError(response)
        return response.json()
      },
      staleTime: 0,
      refetchInterval: 5_000,
    }),

  /** The page's own session. */
  get: () =>
    queryOptions({
      queryKey: ['session', 'get'],
      queryFn: async (): Promise<SessionView> => (await send('GET')).json(),
      staleTime: Number.POSITIVE_INFINITY,
      // The role of a person may change at any time.
      refetchInterval: ({ state }) => (state.data?.person === undefined ? false : 10_000),
    }),
}

export const sessionMutations = {
  signIn: () =>
    mutationOptions({
      mutationKey: ['session', 'sign-in'],
      mutationFn: async ({ apiKey, add = false }: { apiKey: string; add?: boolean }): Promise<SessionView> =>
        (await send('POST', { api_key: apiKey, add })).json(),
    }),

  switchTo: () =>
    mutationOptions({
      mutationKey: ['session', 'switch'],
      mutationFn: async (account: string): Promise<SessionView> => (await send('PUT', { account })).json(),
    }),

  /** Resolves to whether the browser is still signed in to another account. */
  signOut: () =>
    mutationOptions({
      mutationKey: ['session', 'sign-out'],
      mutationFn: (scope: 'own' | 'all') =>
        runSignOut(async () => (await send('DELETE', undefined, scope === 'all' ? '?all=1' : '')).status === 200),
    }),
}
