import { createHash, randomBytes } from 'node:crypto'
import { sealData, unsealData } from 'iron-session'
import * as z from 'zod/mini'
import { accountHeader } from '#lib/wire/session.ts'
import { Refusal } from '../http/answer.ts'
import { isSecure, originOfHost, type ReadHeader, requireSameOrigin } from '../http/origin.ts'
import { serviceIdentity } from '../http/upstream.ts'
import { endStreams, registry } from '../registry.ts'
import type { SignedIn } from './signed-in.ts'

const idleSeconds = 12 * 3600
const absoluteMs = 7 * 24 * 3600 * 1000
const unsealedMs = 60_000
const maxUnsealed = 1000

const Sealed: z.ZodMiniType<SignedIn> = z.object({
  sid: z.string(),
  account: z.object({ id: z.string(), name: z.string(), isolation: z.optional(z.string()) }),
  api_key: z.string(),
  service: z.string(),
  created_at: z.number(),
  renewed_at: z.number(),
})

export const newSession = (account: SignedIn['account'], apiKey: string, now = Date.now()): SignedIn => ({
  sid: randomBytes(16).toString('base64url'),
  account,
  api_key: apiKey,
  service: serviceIdentity(),
  created_at: now,
  renewed_at: now,
})

/** The `Set-Cookie` of a session. */
export const sessionCookie = async (header: ReadHeader, session: SignedIn): Promise<string> =>
  cookie(header, await sealData(session, { password: sealingSecret(), ttl: idleSeconds }), idleSeconds)

export const clearedCookie = (header: ReadHeader): string => cookie(header, '', 0)

/** The session of a request, or undefined: not signed in, signed out, tampered with, too old, or of another service. */
export const sessionOf = async (header: ReadHeader, now = Date.now()): Promise<SignedIn | undefined> => {
  const name = cookieName(header)
  const values = (header('cookie') ?? '').split(/; */).filter((each) => each.startsWith(`${name}=`))
  const [value] = values
  // When there are two of the name, something else has set one, and it is unknown which one is ours.
  if (value === undefined || values.length > 1) return undefined
  const session = await unsealed(value.slice(name.length + 1), now)
  if (!session) return undefined
  const isGood =
    session.service === serviceIdentity() && !isRevoked(session.sid) && now - session.created_at < absoluteMs
  return isGood ? session : undefined
}

/** Unsealing costs a millisecond, and a page sends many calls with the same cookie: it is done once a minute. */
const unsealed = async (seal: string, now: number): Promise<SignedIn | undefined> => {
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

export const requireSignedIn = async (header: ReadHeader): Promise<SignedIn> => {
  const session = await sessionOf(header)
  if (!session) throw new Refusal('unauthenticated', 'Sign in first')
  requireNamedAccount(header, session)
  return session
}

/** A page of one account must not act for another that was signed in to elsewhere in the browser meanwhile. */
export const requireNamedAccount = (header: ReadHeader, { account }: SignedIn): void => {
  const named = header(accountHeader) ?? account.id
  if (named === account.id || named === encodeURIComponent(account.id)) return
  throw new Refusal('conflict', `This page is of another account; the browser is now signed in as ${account.name}`, {
    field: 'account',
    headers: { [accountHeader]: encodeURIComponent(account.id) },
  })
}

/** The session of a request to the console's own server that no other site's page may have sent. */
export const callerOf = (request: Request, kind: 'read' | 'write'): Promise<SignedIn> => {
  const header = (name: string) => request.headers.get(name)
  requireSameOrigin(header, kind)
  return requireSignedIn(header)
}

/** Makes every cookie of the session worthless and ends what it holds open. */
export const revoke = (sid: string, now = Date.now()): void => {
  const { revokedSessions, unsealedSessions } = registry()
  for (const [each, until] of revokedSessions) if (until < now) revokedSessions.delete(each)
  // No cookie of it can have been sealed later than now, so none outlives this.
  revokedSessions.set(sid, now + (idleSeconds + 60) * 1000)
  for (const [seal, { session }] of unsealedSessions) if (session.sid === sid) unsealedSessions.delete(seal)
  endStreams('signed out', sid)
}

const isRevoked = (sid: string): boolean => registry().revokedSessions.has(sid)

export const needsRenewal = ({ renewed_at }: SignedIn, now = Date.now()): boolean =>
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

const cookie = (header: ReadHeader, value: string, maxAge: number): string => {
  const secure = isSecure(header)
  return `${cookieName(header)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

/** A seal names the number of its secret, so the number must not depend on the order of the list. */
const secretId = (secret: string) =>
  String(Number.parseInt(createHash('sha256').update(secret).digest('hex').slice(0, 12), 16))

const sealingSecret = (): Record<string, string> => {
  const [first] = registry().config.sessionSecrets
  return { [secretId(first)]: first }
}

const openingSecrets = (): Record<string, string> =>
  Object.fromEntries(registry().config.sessionSecrets.map((each) => [secretId(each), each]))
