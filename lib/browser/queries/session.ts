import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { readError } from '#lib/client/api-error.ts'
import type { ConnectionView } from '#lib/protocol/connection.ts'
import type { SessionView } from '#lib/protocol/session.ts'
import { fetchConsole, fetchConsoleJson, runSignOut } from '../api/console-api.ts'

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', body?: unknown, query = ''): Promise<Response> =>
  fetchConsole(`/api/session${query}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })

export const sessionQueries = {
  /** Whose the browser's cookie is by now, whoever the page was drawn for; looked at until it is the page's again. */
  now: () =>
    queryOptions({
      queryKey: ['session', 'now'],
      queryFn: async (): Promise<SessionView> => {
        const answer = await fetch('/api/session', { cache: 'no-store' })
        if (!answer.ok) throw await readError(answer)
        return answer.json()
      },
      staleTime: 0,
      refetchInterval: 5_000,
    }),

  /** Who is signed in, and at which service. */
  get: () =>
    queryOptions({
      queryKey: ['session', 'get'],
      queryFn: async (): Promise<SessionView> => (await send('GET')).json(),
      staleTime: Number.POSITIVE_INFINITY,
      refetchInterval: false,
    }),
}

/** How the console reaches its service, and how long this page waits for the console beside it. */
export const connectionQueries = {
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

export const sessionMutations = {
  signIn: () =>
    mutationOptions({
      mutationKey: ['session', 'sign-in'],
      mutationFn: async ({ apiKey, add = false }: { apiKey: string; add?: boolean }): Promise<SessionView> =>
        (await send('POST', { api_key: apiKey, add })).json(),
    }),

  /** Goes over to another account that the browser is signed in to. */
  switchTo: () =>
    mutationOptions({
      mutationKey: ['session', 'switch'],
      mutationFn: async (account: string): Promise<SessionView> => (await send('PUT', { account })).json(),
    }),

  /** Of the page's account, or of all; resolves to whether the browser is signed in to another still. */
  signOut: () =>
    mutationOptions({
      mutationKey: ['session', 'sign-out'],
      mutationFn: (which: 'own' | 'all') =>
        runSignOut(async () => (await send('DELETE', undefined, which === 'all' ? '?all=1' : '')).status === 200),
    }),
}
