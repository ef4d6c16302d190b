import { createHash, randomBytes } from 'node:crypto'
import { sealData, unsealData } from 'iron-session'
import * as z from 'zod/mini'
import { leastRoleForRoute } from '#lib/protocol/roles.ts'
import { accountHeader, maxOtherAccounts } from '#lib/protocol/session.ts'
import { type SignInMethod, signInMethods } from '#lib/protocol/sessions.ts'
import { cookiesOf, cookieValues, sessionCookieName, setCookie } from '../http/cookies.ts'
import { HttpError } from '../http/handle-request.ts'
import { readJsonBody } from '../http/json-body.ts'
import { personalKeyIn, type ReadHeader, requireSameOrigin } from '../http/origin.ts'
import { isKnownKey, sessionOfKey } from '../people/personal-keys.ts'
import { requireRole, roleOf } from '../people/roles.ts'
import { forgetSession, recordUse } from '../people/session-store.ts'
import { slot } from '../registry/registry.ts'
import { serviceIdentity } from '../upstream/client.ts'
import { endStreams } from './open-streams.ts'
import { revokedSessions } from './revoked-sessions.ts'
import { openingSecrets, sealingSecret } from './sealing.ts'
import { idleSeconds, type Session, sessionExpiryMs, signInMethodOf } from './types.ts'

const unsealedMs = 60_000
const maxUnsealed = 1000

const SealedSession: z.ZodMiniType<Session> = z.object({
  sid: z.string(),
  browser: z.optional(z.string()),
  person: z.optional(z.string()),
  groups: z.optional(z.array(z.string())),
  method: z.optional(z.enum(signInMethods)),
  account: z.object({ id: z.string(), name: z.string(), isolation: z.optional(z.string()) }),
  api_key: z.string(),
  service: z.string(),
  created_at: z.number(),
  renewed_at: z.number(),
})

/** Sessions unsealed within the last minute, by cookie value. */
export const unsealedSessions = slot('unsealedSessions', () => new Map<string, { session: Session; untilMs: number }>())

/** `browser` links the session to the other accounts in the same browser. */
export const newSession = (
  account: Session['account'],
  apiKey: string,
  {
    browser = newId(),
    person,
    groups,
    method,
    now = Date.now(),
  }: {
    browser?: string | undefined
    person?: string | undefined
    groups?: readonly string[] | undefined
    method?: SignInMethod
    now?: number
  } = {},
): Session => ({
  sid: newId(),
  browser,
  ...(person !== undefined && { person }),
  ...(groups !== undefined && { groups }),
  method: signInMethodOf({ method, person }),
  account,
  api_key: apiKey,
  service: serviceIdentity(),
  created_at: now,
  renewed_at: now,
})

const newId = () => randomBytes(16).toString('base64url')

type CookieRole = 'current' | 'other'

/** The `Set-Cookie` of a session: of the browser's current account, or of another one it is signed in to. */
export const sessionCookie = async (header: ReadHeader, session: Session, role: CookieRole = 'current') => {
  recordUse(session, header)
  const seal = await sealData(session, { password: sealingSecret(), ttl: idleSeconds })
  return cookie(header, session, role, seal, idleSeconds)
}

export const clearedCookie = (header: ReadHeader, other?: Session): string =>
  cookie(header, other, other ? 'other' : 'current', '', 0)

const cookie = (header: ReadHeader, session: Session | undefined, role: CookieRole, value: string, maxAge: number) => {
  const name = sessionCookieName(header)
  const isOther = session && role === 'other'
  const suffix = isOther ? `.${createHash('sha256').update(session.account.id).digest('hex').slice(0, 12)}` : ''
  return setCookie(header, name + suffix, value, { maxAge, sameSite: 'Strict' })
}

/** The browser's current session; undefined when signed out, revoked, tampered with, expired, or of another service. */
export const sessionOf = (header: ReadHeader, now = Date.now()): Promise<Session | undefined> =>
  validSession(header, sessionCookieName(header), now)

/** Sessions of other accounts in the same browser. Cookies planted by another server carry another browser id. */
export const otherSessions = async (header: ReadHeader, { browser, account }: Session): Promise<Session[]> => {
  if (browser === undefined) return []
  const prefix = `${sessionCookieName(header)}.`
  const names = cookiesOf(header).flatMap((each) => (each.startsWith(prefix) ? [each.split('=', 1)[0] ?? ''] : []))
  const found = await Promise.all(
    [...new Set(names)].slice(0, maxOtherAccounts).map((name) => validSession(header, name, Date.now())),
  )
  return found
    .filter((each) => each !== undefined)
    .filter((each) => each.browser === browser && each.account.id !== account.id)
    .sort((a, b) => a.created_at - b.created_at)
}

const validSession = async (header: ReadHeader, name: string, now: number): Promise<Session | undefined> => {
  // Requests with a personal key need no Origin, so their cookies must not count.
  if (personalKeyIn(header) !== undefined) return undefined
  const session = await readCookie(header, name, now)
  if (!session || session.service !== serviceIdentity() || revokedSessions().find(session.sid)) return undefined
  return now < sessionExpiryMs(session) && roleOf(session) !== null ? session : undefined
}

const readCookie = async (header: ReadHeader, name: string, now: number): Promise<Session | undefined> => {
  const [value, ...duplicates] = cookieValues(header, name)
  // With two cookies of one name, another server set one of them, and we cannot tell which is ours.
  return value === undefined || duplicates.length > 0 ? undefined : unseal(value, now)
}

/** Cached for a minute: unsealing takes a millisecond, and a page sends many calls with the same cookie. */
const unseal = async (seal: string, now: number): Promise<Session | undefined> => {
  const cache = unsealedSessions()
  const known = cache.get(seal)
  if (known && now < known.untilMs) return known.session
  cache.delete(seal)
  const unsealed = await unsealData(seal, { password: openingSecrets(), ttl: idleSeconds })
  const { data: session } = SealedSession.safeParse(unsealed)
  if (!session) return undefined
  const untilMs = Math.min(now + unsealedMs, session.renewed_at + idleSeconds * 1000)
  if (cache.size >= maxUnsealed) cache.clear()
  cache.set(seal, { session, untilMs })
  return session
}

// The session of the account that the request names, or the browser's current one. A page of one account must never act
// for another that the browser has switched to since.
export const requireSignedIn = async (header: ReadHeader): Promise<Session> => {
  const key = personalKeyIn(header)
  if (key !== undefined) return ofRequestedAccount(header, await sessionOfKey(key, header))
  const session = await requestedSession(header)
  recordUse(session, header)
  return session
}

/** Whether the request comes from someone who may use the console. */
export const isSignedIn = async (header: ReadHeader): Promise<boolean> => {
  const key = personalKeyIn(header)
  return key === undefined ? (await sessionOf(header)) !== undefined : isKnownKey(key)
}

const requestedSession = async (header: ReadHeader): Promise<Session> => {
  const session = await sessionOf(header)
  if (!session) {
    // Sent before the browser received the cookie of the account that replaced this one.
    if (await isReplaced(header))
      throw new HttpError('conflict', 'This browser has signed in to another account', {
        field: 'account',
        headers: { [accountHeader]: '' },
      })
    throw new HttpError('unauthenticated', 'Sign in first')
  }
  if (isRequested(header, session)) return session
  const other = (await otherSessions(header, session)).find((each) => isRequested(header, each))
  return other ?? ofRequestedAccount(header, session)
}

const ofRequestedAccount = (header: ReadHeader, session: Session): Session => {
  if (isRequested(header, session)) return session
  const { id, name } = session.account
  throw new HttpError(
    'conflict',
    session.personal_key
      ? `This personal key belongs to the account ${name}`
      : `This page belongs to another account; this browser is now signed in as ${name}`,
    { field: 'account', headers: { [accountHeader]: encodeURIComponent(id) } },
  )
}

const isRequested = (header: ReadHeader, { account: { id } }: Session): boolean =>
  [id, encodeURIComponent(id)].includes(header(accountHeader) ?? id)

/** The session of a request that no other site can have sent. */
export const requireCaller = async (request: Request, kind: 'read' | 'write'): Promise<Session> => {
  const header = (name: string) => request.headers.get(name)
  requireSameOrigin(header, kind)
  const session = await requireSignedIn(header)
  const { pathname } = new URL(request.url)
  if (session.personal_key && forBrowsers.test(pathname))
    throw new HttpError('forbidden', "Personal keys can't do this; use the console in a browser")
  if (kind === 'write') requireRole(session, leastRoleForRoute(pathname))
  return session
}

/** Reads the body of a caller's request. Throws 401 if their session has ended before it arrived. */
export const readBodyOf = async (request: Request, maxBytes?: number): Promise<unknown> => {
  const body = await readJsonBody(request, maxBytes)
  await requireCaller(request, 'write')
  return body
}

/** A stolen key must not create others or sign people out, and only a browser can receive push messages. */
const forBrowsers = /^\/api\/(sessions|personal-keys|alerts\/push)(\/|$)/

/** Called with the id of each session that ends by signing out. */
export const sessionEndListeners = slot('sessionEndListeners', () => new Set<(sid: string) => void>())

/** Invalidates every cookie of the session and ends its streams. `isReplaced`: another account took its place. */
export const revoke = (sid: string, isReplaced = false): void => {
  // No cookie of the session was sealed later than now, so none outlives this.
  revokedSessions().add(sid, Date.now() + (idleSeconds + 60) * 1000, isReplaced)
  for (const [seal, { session }] of unsealedSessions()) if (session.sid === sid) unsealedSessions().delete(seal)
  endStreams('signed out', sid)
  forgetSession(sid)
  for (const listener of sessionEndListeners()) listener(sid)
}

const isReplaced = async (header: ReadHeader): Promise<boolean> => {
  const session = await readCookie(header, sessionCookieName(header), Date.now())
  return session !== undefined && revokedSessions().find(session.sid)?.isReplaced === true
}

export const needsRenewal = ({ renewed_at }: Session, now = Date.now()): boolean =>
  now - renewed_at > (idleSeconds * 1000) / 2
