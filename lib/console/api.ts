import { type Client, createClient } from '#lib/client/client.ts'
import { paths } from './paths.ts'

/**
 * The service as pages call it: through the console, which knows the key. An answer of 401 anywhere means that the
 * session is over, and leads to the sign-in page and from there back here.
 */
export const browserApi: Client = createClient({
  baseUrl: '/api',
  fetch: async (input, init) => {
    const response = await fetch(input, init)
    if (response.status === 401) void leaveForSignIn()
    return response
  },
})

let leaving = false
/** Many calls may find out at once; the page leaves once. */
export const leaveForSignIn = async (): Promise<void> => {
  if (leaving) return
  leaving = true
  // Who is still signed in was refused by the service itself: the page has to say so, or it seems to ask for nothing.
  const problem = (await isSignedOut()) ? undefined : 'key-refused'
  location.assign(paths.signIn(location.pathname + location.search, problem))
}

/** Whether the console's server says so; while it says nothing, nobody is. */
export const isSignedOut = async (): Promise<boolean> => {
  const answer = await fetch('/api/session', { cache: 'no-store' }).catch(() => undefined)
  return answer?.status === 401
}
