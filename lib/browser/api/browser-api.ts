import { type Calls, createCalls, type Resources } from '#lib/client/calls.ts'
import { leaveForSignIn } from './ask-console.ts'
import { namedAccount, watchAccount } from './page-account.ts'

/**
 * The service as pages call it: through the console, which knows the key. A page downloads the resources it names, not
 * the whole contract. An answer of 401 anywhere means that the session is over, and leads to the sign-in page and from
 * there back here.
 */
export const browserApi = <R extends Resources>(resources: R, headers: Record<string, string> = {}): Calls<R> =>
  createCalls(resources, {
    baseUrl: '/api',
    headers,
    fetch: async (input, init) => {
      const named = { ...init, headers: { ...(init?.headers as Record<string, string>), ...namedAccount() } }
      const response = watchAccount(await fetch(input, named))
      if (response.status === 401) void leaveForSignIn()
      return response
    },
  })
