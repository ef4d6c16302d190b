import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import * as z from 'zod/mini'
import { ApiError } from '#lib/client/api-error.ts'
import type { SessionView } from '#lib/wire/session.ts'
import { answering, json, Refusal } from '../http/answer.ts'
import { recentFailures } from '../http/failure-limit.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { readJsonBody } from '../http/request-body.ts'
import { unreachable } from '../http/unreachable.ts'
import { clientFor } from '../http/upstream.ts'
import { registry } from '../registry.ts'
import {
  clearedCookie,
  needsRenewal,
  newSession,
  requireNamedAccount,
  requireSignedIn,
  revoke,
  sessionCookie,
  sessionOf,
} from './session-cookie.ts'
import type { SignedIn } from './signed-in.ts'

const SignIn = z.object({
  api_key: z
    .string('is needed')
    .check(z.regex(/^[\x21-\x7e]{1,512}$/, 'must be 1 to 512 printable characters without spaces')),
})

const failureLimit = { most: 5, message: 'Too many keys were refused' }
const verifyTimeoutMs = 10_000

/** `POST /api/session {"api_key"}` */
export const signIn = (request: Request): Promise<Response> =>
  answering(request, async () => {
    const header = headerOf(request)
    requireSameOrigin(header, 'write')
    const client = header('x-devdeck-client') ?? 'unknown'
    const parsed = SignIn.safeParse(await readJsonBody(request))
    if (!parsed.success)
      throw new Refusal('invalid_argument', `api_key ${parsed.error.issues[0]?.message ?? 'is needed'}`, {
        field: 'api_key',
      })
    const { api_key } = parsed.data
    const account = await withinLimit(client, () => verifyKey(api_key))
    const before = await sessionOf(header)
    if (before) revoke(before.sid)
    const session = newSession(account, api_key)
    return json(viewOf(session), { headers: { 'set-cookie': await sessionCookie(header, session) } })
  })

/** `GET /api/session`: who is signed in; it also keeps a session that is in use from running out. */
export const whoIsSignedIn = (request: Request): Promise<Response> =>
  answering(request, async () => {
    const header = headerOf(request)
    requireSameOrigin(header, 'read')
    const session = await requireSignedIn(header)
    if (!needsRenewal(session)) return json(viewOf(session))
    const renewed = await sessionCookie(header, { ...session, renewed_at: Date.now() })
    return json(viewOf(session), { headers: { 'set-cookie': renewed } })
  })

/** `DELETE /api/session`. Signing out without being signed in is no error. */
export const signOut = (request: Request): Promise<Response> =>
  answering(request, async () => {
    const header = headerOf(request)
    requireSameOrigin(header, 'write')
    const session = await sessionOf(header)
    if (session) requireNamedAccount(header, session)
    if (session) revoke(session.sid)
    return new Response(null, {
      status: 204,
      headers: {
        'set-cookie': clearedCookie(header),
        'clear-site-data': '"cache", "storage"',
        'cache-control': 'no-store',
      },
    })
  })

/** `GET /sign-in/{token}`: the link printed at start stands for the key of the embedded service, once. */
export const followSignInLink = (request: Request, token: string): Promise<Response> =>
  answering(request, async () => {
    const header = headerOf(request)
    // A link preview of a chat or a prefetch of a browser must not use the link up.
    const looksAhead =
      request.method !== 'GET' || /prefetch|preview/.test(`${header('sec-purpose')} ${header('purpose')}`)
    const key = looksAhead ? undefined : registry().service.ownKey()
    if (key === undefined || !takeLink(token)) return seeOther('/sign-in?problem=link-used')
    const session = newSession(await verifyKey(key), key)
    return seeOther('/', { 'set-cookie': await sessionCookie(header, session) })
  })

/** A path that signs its first follower in. */
export const newSignInPath = (): string => {
  const token = randomBytes(24).toString('base64url')
  registry().signInLinks.add(token)
  return `/sign-in/${token}`
}

export const viewOf = ({ account: { id, name, isolation } }: SignedIn): SessionView => {
  const { service } = registry()
  const isolated = isolation === undefined ? {} : { isolation }
  return {
    account: { id, name, ...isolated },
    service: { url: service.url(), embedded: service.embedded, ...isolated },
  }
}

const headerOf = (request: Request) => (name: string) => request.headers.get(name)

// The address is relative, because an absolute one would be made from headers that a client can choose.
const seeOther = (location: string, headers: Record<string, string> = {}) =>
  new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store', ...headers } })

const takeLink = (token: string): boolean => {
  const { signInLinks } = registry()
  const given = digest(token)
  const found = [...signInLinks].find((each) => timingSafeEqual(digest(each), given))
  return found !== undefined && signInLinks.delete(found)
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Asks the service whose key this is. A hosted service may not tell; then any successful read proves the key. */
const verifyKey = async (apiKey: string): Promise<SignedIn['account']> => {
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
    const id = createHash('sha256').update(apiKey).digest('hex').slice(0, 12)
    return { id, name: `Key …${apiKey.slice(-4)}` }
  } catch (error) {
    throw keyRefusal(error)
  }
}

const keyRefusal = (error: unknown): Refusal => {
  const status = error instanceof ApiError ? error.status : 0
  const { service } = registry()
  if (status === 401 || status === 403)
    return new Refusal('unauthenticated', 'The service refused this key', { field: 'api_key' })
  if (status === 0) return new Refusal('unavailable', unreachable(service.url(), error))
  if (status === 429)
    return new Refusal('rate_limited', `The service at ${service.url()} asks to slow down; try again in a minute`)
  return new Refusal('bad_upstream', `What answers at ${service.url()} is not the service: ${(error as Error).message}`)
}

/**
 * Asks a client to wait that has failed too often. The right key passes all the same: whole households of programs share
 * an address, and none of them must lock out the others. What a service makes as keys is too long to guess.
 */
export const withinLimit = async <T>(client: string, attempt: () => Promise<T>): Promise<T> => {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unauthenticated')
      recentFailures(registry().failedSignIns, client, failureLimit).push(Date.now())
    throw error
  }
}
