import { type Calls, createCalls, type Resources } from '#lib/client/calls.ts'
import { redirectToSignIn } from './console-api.ts'
import { accountHeaders, detectAccountChange } from './page-account.ts'

/** Calls the service through the console, which adds the key. Loads only the resources it is given. */
export const browserApi = <R extends Resources>(resources: R, headers: Record<string, string> = {}): Calls<R> =>
  createCalls(resources, {
    baseUrl: '/api',
    headers,
    fetch: async (input, init) => {
      const requestHeaders = { ...(init?.headers as Record<string, string>), ...accountHeaders() }
      const response = detectAccountChange(await fetch(input, { ...init, headers: requestHeaders }))
      if (response.status === 401) void redirectToSignIn()
      return response
    },
  })
