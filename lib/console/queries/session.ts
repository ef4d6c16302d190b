import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { ApiError, readError } from '#lib/client/client.ts'
import type { SessionView } from '#lib/contract/relay.ts'

const send = async (method: 'GET' | 'POST' | 'DELETE', body?: unknown): Promise<Response> => {
  const response = await fetch('/api/session', {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new ApiError('unreachable', 0, 'The console itself cannot be reached', { cause })
  })
  if (!response.ok) throw await readError(response)
  return response
}

export const sessionQueries = {
  /** Who is signed in, and at which service. */
  get: () =>
    queryOptions({
      queryKey: ['session', 'get'],
      queryFn: async (): Promise<SessionView> => (await send('GET')).json(),
      staleTime: Number.POSITIVE_INFINITY,
      refetchInterval: false,
    }),
}

export const sessionMutations = {
  signIn: () =>
    mutationOptions({
      mutationKey: ['session', 'sign-in'],
      mutationFn: async (apiKey: string): Promise<SessionView> => (await send('POST', { api_key: apiKey })).json(),
    }),

  signOut: () =>
    mutationOptions({ mutationKey: ['session', 'sign-out'], mutationFn: async () => void (await send('DELETE')) }),
}
