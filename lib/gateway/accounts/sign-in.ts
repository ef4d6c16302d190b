import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import { ApiError } from '#lib/client/api-error.ts'
import { maxOtherAccounts, type SessionView } from '#lib/protocol/session.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { readJsonBody } from '../http/json-body.ts'
import { type ReadHeader, requireSameOrigin } from '../http/origin.ts'
import { countWrongKey } from '../limits/wrong-keys.ts'
import { roleOf } from '../people/roles.ts'
import { registry, slot } from '../registry/registry.ts'
import { clientFor, unreachable } from '../upstream/client.ts'
import {
  clearedCookie,
  needsRenewal,
  newSession,
  otherSessions,
  requireSignedIn,
  revoke,
  sessionCookie,
  sessionOf,
} from './session-cookie.ts'
import type { Session } from './types.ts'

const SignIn = z.object({
  api_key: z
    .string('is required')
    .check(z.regex(/^[\x21-\x7e]{1,512}$/, 'must be 1 to 512 printable characters without spaces')),
  /** Adds the account and stays signed in to the current one. */
  add: z.optional(z.boolean()),
})
const Switch = z.object({ account: z.string().check(z.maxLength(512)) })

const verifyTimeoutMs = 10_000

export const signIn = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const header = headerOf(request)
    requireSameOrigin(header, 'write')
    if (registry().config.isSignOnOnly)
      throw new HttpError('forbidden', 'This console accepts no API keys; use single sign-on')
    const client = header('x-devdeck-client') ?? 'unknown'
    const parsed = SignIn.safeParse(await readJsonBody(request))
    if (!parsed.success)
      throw new HttpError('invalid_argument', `api_key ${parsed.error.issues[0]?.message ?? 'is required'}`, {
        field: 'api_key',
      })
    const { api_key, add = false } = parsed.data
    const account = await withinLimit(client, () => verifyKey(api_key))
    const { session, others, cookies } = await signedInResponse(header, account, api_key, { add })
    return withCookies(json(sessionView(session, others)), cookies)
  })

/** Creates a session with its cookies: replacing the current one, or added to it. */
export const signedInResponse = async (
  header: ReadHeader,
  account: Session['account'],
  apiKey: string,
  { add, person, groups }: { add: boolean; person?: string; groups?: readonly string[] | undefined },
): Promise<{ session: Session; others: Session[]; cookies: string[] }> => {
  const before = await sessionOf(header)
  const kept = before ? await otherSessions(header, before) : []
  const same = kept.find((each) => each.account.id === account.id)
  const others = kept.filter((each) => each !== same)
  const isAdded = add && before !== undefined && before.account.id !== account.id
  if (isAdded && others.length >= maxOtherAccounts)
    throw new HttpError('conflict', `${maxOtherAccounts + 1} accounts are signed in already; sign out of one first`)
  const session = newSession(account, apiKey, { browser: before?.browser, person, groups })
  const cookies = [await sessionCookie(header, session)]
  if (isAdded) {
    // Older sessions have no browser id.
    const staying = { ...before, browser: session.browser, renewed_at: Date.now() }
    cookies.push(await sessionCookie(header, staying, 'other'))
    others.push(staying)
  } else if (before) revoke(before.sid, before.account.id !== account.id)
  if (same) {
    revoke(same.sid)
    cookies.push(clearedCookie(header, same))
  }
  return { session, others, cookies }
}

/** `PUT /api/session {"account"}`: switches to another account of this browser. */
export const switchAccount = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const header = headerOf(request)
    requireSameOrigin(header, 'write')
    const parsed = Switch.safeParse(await readJsonBody(request))
    if (!parsed.success) throw new HttpError('invalid_argument', 'account is required', { field: 'account' })
    const session = await sessionOf(header)
    if (!session) throw new HttpError('unauthenticated', 'Sign in first')
    const kept = await otherSessions(header, session)
    if (session.account.id === parsed.data.account) return json(sessionView(session, kept))
    const to = kept.find(({ account }) => account.id === parsed.data.account)
    if (!to)
      throw new HttpError('not_found', 'This browser is no longer signed in to that account', { field: 'account' })
    const others = [session, ...kept.filter((each) => each !== to)]
    return withCookies(json(sessionView(to, others)), [
      await sessionCookie(header, { ...to, renewed_at: Date.now() }),
      await sessionCookie(header, { ...session, renewed_at: Date.now() }, 'other'),
      clearedCookie(header, to),
    ])
  })

/** `GET /api/session`: the current session; renews cookies in use. */
export const whoIsSignedIn = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const header = headerOf(request)
    requireSameOrigin(header, 'read')
    const session = await requireSignedIn(header)
    const current = (await sessionOf(header)) ?? session
    const all = [current, ...(await otherSessions(header, current))]
    const now = Date.now()
    const cookies = all
      .filter((each) => needsRenewal(each, now))
      .map((each) => sessionCookie(header, { ...each, renewed_at: now }, each === current ? 'current' : 'other'))
    const others = all.filter(({ sid }) => sid !== session.sid)
    return withCookies(json(sessionView(session, others)), await Promise.all(cookies))
  })

// `DELETE /api/session`: signs out of one account, or of all with `?all`. Responds with the account that is current
// afterwards. Succeeds when already signed out.
export const signOut = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const header = headerOf(request)
    requireSameOrigin(header, 'write')
    const current = await sessionOf(header)
    const kept = current ? await otherSessions(header, current) : []
    const isOfAll = new URL(request.url).searchParams.has('all')
    if (current && !isOfAll) {
      const leaving = await requireSignedIn(header)
      const left = [current, ...kept].filter(({ sid }) => sid !== leaving.sid)
      const [next, ...others] = left
      if (next) {
        revoke(leaving.sid)
        const isCurrent = leaving.sid === current.sid
        const now = isCurrent ? [await sessionCookie(header, { ...next, renewed_at: Date.now() })] : []
        const cookies = [...now, clearedCookie(header, isCurrent ? next : leaving)]
        return withCookies(json(sessionView(next, others), { headers: { 'clear-site-data': '"cache"' } }), cookies)
      }
    }
    for (const each of current ? [current, ...kept] : []) revoke(each.sid)
    const response = new Response(null, {
      status: 204,
      headers: { 'clear-site-data': '"cache", "storage"', 'cache-control': 'no-store' },
    })
    return withCookies(response, [clearedCookie(header), ...kept.map((each) => clearedCookie(header, each))])
  })

export const withCookies = (response: Response, cookies: readonly string[]): Response => {
  for (const each of cookies) response.headers.append('set-cookie', each)
  return response
}

/** `GET /sign-in/{token}`: signs in once with the embedded service's key. */
export const followSignInLink = (request: Request, token: string): Promise<Response> =>
  handleRequest(request, async () => {
    const header = headerOf(request)
    // Link previews and prefetches must not use up the link.
    const isPrefetch =
      request.method !== 'GET' || /prefetch|preview/.test(`${header('sec-purpose')} ${header('purpose')}`)
    const key = isPrefetch || registry().config.isSignOnOnly ? undefined : registry().service.ownKey()
    if (key === undefined || !takeLink(token)) return seeOther('/sign-in?problem=link-used')
    const session = newSession(await verifyKey(key), key, { method: 'link' })
    return seeOther('/', { 'set-cookie': await sessionCookie(header, session) })
  })

/** Unspecified: lifetime of a sign-in link, which stays in logs and terminals. */
export const signInLinkMinutes = 10

/** When each unused link expires, by the hash of its token. */
const signInLinks = slot('signInLinks', () => new Map<string, number>())

export const newSignInPath = (): string => {
  const token = randomBytes(24).toString('base64url')
  signInLinks().set(digest(token), Date.now() + signInLinkMinutes * 60_000)
  return `/sign-in/${token}`
}

export const sessionView = (session: Session, others: readonly Session[] = []): SessionView => {
  const { id, name, isolation } = session.account
  const { person } = session
  const { service } = registry()
  const isolated = isolation === undefined ? {} : { isolation }
  return {
    account: { id, name, ...isolated },
    ...(person !== undefined && { person }),
    role: roleOf(session) ?? 'viewer',
    ...(others.length > 0 && { others: others.map(({ account }) => ({ id: account.id, name: account.name })) }),
    service: { url: service.url(), embedded: service.embedded, ...isolated },
  }
}

export const headerOf = (request: Request) => (name: string) => request.headers.get(name)

// Relative, because an absolute URL would depend on client headers.
export const seeOther = (location: string, headers: Record<string, string> = {}) =>
  new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store', ...headers } })

const takeLink = (token: string): boolean => {
  const expiresMs = signInLinks().get(digest(token)) ?? 0
  signInLinks().delete(digest(token))
  return Date.now() < expiresMs
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

/** The account of a key. A service without accounts must accept a read instead. */
export const verifyKey = async (apiKey: string): Promise<Session['account']> => {
  const client = clientFor(apiKey)
  const signal = AbortSignal.timeout(verifyTimeoutMs)
  try {
    const { id, name, isolation } = await client.accounts.me({ signal })
    return { id, name, ...(isolation === undefined ? {} : { isolation }) }
  } catch (error) {
    if (!(error instanceof ApiError && (error.status === 404 || error.status === 501))) throw keyRefusal(error)
  }
  try {
    await client.axons.list({ query: { limit: 1, include_total_count: false }, signal })
    const id = digest(apiKey).slice(0, 12)
    return { id, name: `Key …${apiKey.slice(-4)}` }
  } catch (error) {
    throw keyRefusal(error)
  }
}

const keyRefusal = (error: unknown): HttpError => {
  const status = error instanceof ApiError ? error.status : 0
  const { service } = registry()
  if (status === 401 || status === 403)
    return new HttpError('unauthenticated', 'The service rejected this key', { field: 'api_key' })
  if (status === 0) return new HttpError('unavailable', unreachable(service.url(), error))
  if (status === 429) {
    const retryAfterSeconds = Math.ceil(((error as ApiError).retryAfterMs ?? 60_000) / 1000)
    const message = `The service at ${service.url()} is rate limiting; try again in ${retryAfterSeconds} s`
    return new HttpError('rate_limited', message, { retryAfterSeconds })
  }
  return new HttpError(
    'bad_upstream',
    `The server at ${service.url()} doesn't respond like the service: ${(error as Error).message}`,
  )
}

/** Counts a rejected key. Throws 429 after too many. */
export const withinLimit = async <T>(client: string, attempt: () => Promise<T>): Promise<T> => {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof HttpError && error.code === 'unauthenticated')
      await countWrongKey(client, 'Too many wrong API keys')
    throw error
  }
}
