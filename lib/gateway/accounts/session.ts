import { headers } from 'next/headers.js'
import { redirect } from 'next/navigation.js'
import { cache } from 'react'
import type { Client } from '#lib/client/client.ts'
import type { SessionView } from '#lib/protocol/session.ts'
import { maskingFetch } from '../proxy/masking.ts'
import { clientFor, limitListSize } from '../upstream/client.ts'
import { otherSessions, sessionOf } from './session-cookie.ts'
import { sessionView } from './sign-in.ts'
import type { Session } from './types.ts'

/** Pages render without data after this time; the browser then fetches it. */
const pageWaitMs = 3_000

/** The session of the current request without its key; null when signed out. */
export const readSession = async (): Promise<SessionView | null> => {
  const session = await openSession()
  return session ? sessionView(session, await openOthers()) : null
}

/** The session and an API client for prefetching; redirects to the sign-in page when signed out. */
export const requireSession = async (): Promise<SessionView & { api: Client }> => {
  const session = await openSession()
  if (!session) return redirect(signInPath((await headers()).get('x-devdeck-path') ?? '/'))
  return {
    ...sessionView(session, await openOthers()),
    api: clientFor(session.api_key, pageWaitMs, (fetch) => maskingFetch(session.account.id)(limitListSize(fetch))),
  }
}

export const signInPath = (pathAndQuery: string): string => {
  // `//host` and `/\host` would leave this origin.
  const isRelative = /^\/(?![/\\])/.test(pathAndQuery)
  const url = URL.parse(isRelative ? pathAndQuery : '/', 'http://console')
  // Next marks its own navigations with _rsc, which must not stay in an address that a person returns to.
  if (url?.searchParams.has('_rsc')) url.searchParams.delete('_rsc')
  const next = url ? `${url.pathname}${url.search}` : '/'
  return next === '/' || next.startsWith('/sign-in') ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`
}

/** The session of the current request, with its key. */
export const openSession = cache(async (): Promise<Session | undefined> => {
  const received = await headers()
  return sessionOf((name) => received.get(name))
})

const openOthers = cache(async (): Promise<Session[]> => {
  const [session, received] = [await openSession(), await headers()]
  return session ? otherSessions((name) => received.get(name), session) : []
})
