import { createHash, randomBytes } from 'node:crypto'
import { sealData, unsealData } from 'iron-session'
import * as z from 'zod/mini'
import { accountHeader, maxOtherAccounts } from '#lib/protocol/session.ts'
import { HttpError } from '../http/handle-request.ts'
import { isSecure, originOfHost, type ReadHeader, requireSameOrigin } from '../http/origin.ts'
import { endStreams, registry } from '../registry/registry.ts'
import { serviceIdentity } from '../upstream/client.ts'
import { RevokedSessions } from './revoked-sessions.ts'
import { type Session, sessionExpiryMs } from './types.ts'

const idleSeconds = 12 * 3600
const unsealedMs = 60_000
const maxUnsealed = 1000

const Sealed: z.ZodMiniType<Session> = z.object({
  sid: z.string(),
  browser: z.optional(z.string()),
  person: z.optional(z.string()),
  account: z.object({ id: z.string(), name: z.string(), isolation: z.optional(z.string()) }),
  api_key: z.string(),
  service: z.string(),
  created_at: z.number(),
  renewed_at: z.number(),
})

/** `browser` is that of the session it is added beside. */
export const newSession = (
  account: Session['account'],
  apiKey: string,
  {
    browser = newId(),
    person,
    now = Date.now(),
  }: { browser?: string | undefined; person?: string | undefined; now?: number } = {},
): Session => ({
  sid: newId(),
  browser,
  ...(person !== undefined && { person }),
  account,
  api_key: apiKey,
  service: serviceIdentity(),
  created_at: now,
  renewed_at: now,
})

const newId = () => randomBytes(16).toString('base64url')

/** The `Set-Cookie` of a session; `kept` of one beside that of the account the browser is on. */
export const sessionCookie = async (header: ReadHeader, session: Session, kept?: 'kept'): Promise<string> => {
  const seal = await sealData(session, { password: sealingSecret(), ttl: idleSeconds })
  return cookie(header, seal, idleSeconds, kept && keptName(header, session))
}

export const clearedCookie = (header: ReadHeader, kept?: Session): string =>
  cookie(header, '', 0, kept && keptName(header, kept))

/** The session of a request, or undefined: not signed in, signed out, tampered with, too old, or of another service. */
export const sessionOf = (header: ReadHeader, now = Date.now()): Promise<Session | undefined> =>
  sessionIn(header, cookieName(header), now)

/**
 * The sessions of other accounts in the same browser. What another server of this host may have planted is of another
 * browser, and does not count.
 */
export const otherSessions = async (header: ReadHeader, { browser, account }: Session): Promise<Session[]> => {
  if (browser === undefined) return []
  const prefix = `${cookieName(header)}.`
  const names = cookiesOf(header).flatMap((each) => (each.startsWith(prefix) ? [each.split('=', 1)[0] ?? ''] : []))
  const found = await Promise.all(
    [...new Set(names)].slice(0, maxOtherAccounts).map((name) => sessionIn(header, name, Date.now())),
  )
  return found
    .filter((each) => each !== undefined)
    .filter((each) => each.browser === browser && each.account.id !== account.id)
    .sort((a, b) => a.created_at - b.created_at)
}

const cookiesOf = (header: ReadHeader): string[] => (header('cookie') ?? '').split(/; */)

const sessionIn = async (header: ReadHeader, name: string, now: number): Promise<Session | undefined> => {
  const session = await sealedIn(header, name, now)
  if (!session) return undefined
  const isGood = session.service === serviceIdentity() && !isRevoked(session.sid) && now < sessionExpiryMs(session)
  return isGood ? session : undefined
}

/** What the cookie holds, good or not. */
const sealedIn = async (header: ReadHeader, name: string, now: number): Promise<Session | undefined> => {
  const [value, ...more] = cookieValues(header, name)
  // When there are two of the name, something else has set one, and it is unknown which one is ours.
  return value === undefined || more.length > 0 ? undefined : unsealed(value, now)
}

export const cookieValues = (header: ReadHeader, name: string): string[] =>
  cookiesOf(header).flatMap((each) => (each.startsWith(`${name}=`) ? [each.slice(name.length + 1)] : []))

/** Unsealing costs a millisecond, and a page sends many calls with the same cookie: it is done once a minute. */
const unsealed = async (seal: string, now: number): Promise<Session | undefined> => {
  const { unsealedSessions } = registry()
  const known = unsealedSessions.get(seal)
  if (known && now < known.untilMs) return known.session
  unsealedSessions.delete(seal)
  const { data: session } = Sealed.safeParse(await unsealData(seal, { password: openingSecrets(), ttl: idleSeconds }))
  if (!session) return undefined
  // No seal runs out before that: it is made when its session begins or is renewed.
  const untilMs = Math.min(now + unsealedMs, session.renewed_at + idleSeconds * 1000)
  const [oldest] = unsealedSessions.size < maxUnsealed ? [] : unsealedSessions.keys()
  if (oldest !== undefined) unsealedSessions.delete(oldest)
  unsealedSessions.set(seal, { session, untilMs })
  return session
}

/**
 * The session that a request is for: of the account that it names, if the browser is signed in to it, and else of the one
 * the browser is on. A page of one account never acts for another that the browser went over to meanwhile.
 */
export const requireSignedIn = async (header: ReadHeader): Promise<Session> => {
  const session = await sessionOf(header)
  if (!session) {
    // Sent before the browser had the cookie of the account that took its place: the page is told of that one only.
    if (await isReplaced(header))
      throw new HttpError('conflict', 'The browser was signed in to another account', {
        field: 'account',
        headers: { [accountHeader]: '' },
      })
    throw new HttpError('unauthenticated', 'Sign in first')
  }
  if (isNamed(header, session)) return session
  const own = (await otherSessions(header, session)).find((each) => isNamed(header, each))
  if (own) return own
  const { account } = session
  throw new HttpError('conflict', `This page is of another account; the browser is now signed in as ${account.name}`, {
    field: 'account',
    headers: { [accountHeader]: encodeURIComponent(account.id) },
  })
}

const isNamed = (header: ReadHeader, { account: { id } }: Session): boolean =>
  [id, encodeURIComponent(id)].includes(header(accountHeader) ?? id)

/** The session of a request to the console's own server that no other site's page may have sent. */
export const requireCaller = (request: Request, kind: 'read' | 'write'): Promise<Session> => {
  const header = (name: string) => request.headers.get(name)
  requireSameOrigin(header, kind)
  return requireSignedIn(header)
}

/** Makes every cookie of the session worthless and ends what it holds open; replaced where another account took its place. */
export const revoke = (sid: string, isReplaced = false): void => {
  const { unsealedSessions } = registry()
  // No cookie of it can have been sealed later than now, so none outlives this.
  revokedSessions().add(sid, Date.now() + (idleSeconds + 60) * 1000, isReplaced)
  for (const [seal, { session }] of unsealedSessions) if (session.sid === sid) unsealedSessions.delete(seal)
  endStreams('signed out', sid)
}

const revokedSessions = (): RevokedSessions => {
  const shared = registry()
  shared.revokedSessions ??= new RevokedSessions(shared.config.dataDir)
  return shared.revokedSessions
}

export const closeRevokedSessions = (): void => {
  registry().revokedSessions?.close()
  registry().revokedSessions = undefined
}

const isRevoked = (sid: string): boolean => revokedSessions().find(sid) !== undefined

const isReplaced = async (header: ReadHeader): Promise<boolean> => {
  const session = await sealedIn(header, cookieName(header), Date.now())
  return session !== undefined && revokedSessions().find(session.sid)?.isReplaced === true
}

export const needsRenewal = ({ renewed_at }: Session, now = Date.now()): boolean =>
  now - renewed_at > (idleSeconds * 1000) / 2

/**
 * Cookies do not differ by port, so the name holds the one people open. Not our own: several consoles behind one public
 * origin share their sessions.
 */
export const cookieName = (header: ReadHeader): string => {
  const secure = isSecure(header)
  const { port } = new URL(originOfHost(header('host')) ?? `http://localhost:${registry().port}`)
  return `${secure ? '__Host-' : ''}devdeck_session_${port || (secure ? 443 : 80)}`
}

const keptName = (header: ReadHeader, { account }: Session): string =>
  `${cookieName(header)}.${createHash('sha256').update(account.id).digest('hex').slice(0, 12)}`

const cookie = (header: ReadHeader, value: string, maxAge: number, name = cookieName(header)): string =>
  namedCookie(header, name, value, { maxAge, sameSite: 'Strict' })

export const namedCookie = (
  header: ReadHeader,
  name: string,
  value: string,
  { maxAge, sameSite }: { maxAge: number; sameSite: 'Strict' | 'Lax' },
): string => {
  const secure = isSecure(header)
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`
}

/** A seal names the number of its secret, so the number must not depend on the order of the list. */
const secretId = (secret: string) =>
  String(Number.parseInt(createHash('sha256').update(secret).digest('hex').slice(0, 12), 16))

export const sealingSecret = (): Record<string, string> => {
  const [first] = registry().config.sessionSecrets
  return { [secretId(first)]: first }
}

export const openingSecrets = (): Record<string, string> =>
  Object.fromEntries(registry().config.sessionSecrets.map((each) => [secretId(each), each]))
