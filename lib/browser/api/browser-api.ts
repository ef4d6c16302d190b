import { type Calls, createCalls, type Resources } from '#lib/client/calls.ts'
import { redirectToSignIn } from './console-api.ts'
import { accountHeaders, detectAccountChange } from './page-account.ts'

/**
 * Calls the service through the console, which adds the key. Takes the resources it needs, so that a page doesn't load
 * the whole contract. A 401 redirects to the sign-in page.
 */
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
