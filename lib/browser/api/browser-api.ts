import { type Calls, createCalls, type Resources } from '#lib/client/calls.ts'
import { redirectToSignIn, requestConsole } from './console-api.ts'

/** Calls the service through the console, which adds the key. Loads only the resources it is given. */
export const browserApi = <R extends Resources>(resources: R, headers: Record<string, string> = {}): Calls<R> =>
  createCalls(resources, {
    baseUrl: '/api',
    headers,
    fetch: async (input, init) => {
      const response = await requestConsole(input, init)
      if (response.status === 401) void redirectToSignIn()
      return response
    },
  })
