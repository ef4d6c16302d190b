import { sealData, unsealData } from 'iron-session'
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import * as z from 'zod/mini'
import { roles } from '#lib/protocol/roles.ts'
import type { SignOnRule } from '../config.ts'
import { cookieValues, sessionCookieName, setCookie } from '../http/cookies.ts'
import { HttpError } from '../http/handle-request.ts'
import { isCrossOrigin, originOfHost, type ReadHeader, sameOriginPath } from '../http/origin.ts'
import { logError, logWarning } from '../observability/log.ts'
import { rememberGroups } from '../people/key-store.ts'
import { groupsIn, type RoleRules } from '../people/role-rules.ts'
import { roleOf, roleRules } from '../people/roles.ts'
import { registry } from '../registry/registry.ts'
import { openingSecrets, sealingSecret } from './sealing.ts'
import { headerOf, seeOther, signedInResponse, verifyKey, withCookies } from './sign-in.ts'

const pendingSeconds = 600
const providerSeconds = 10
const maxNameLength = 60
const maxPersonLength = 120
/** Unspecified: people in more groups than fit must sign in again after the rules change. */
const maxGroupsLength = 1_000
/** Browsers drop cookies over 4096 bytes, and sealing adds up to half. */
const maxNextLength = 2_000

export type SignOnProblem =
  | 'sso-away'
  | 'sso-late'
  | 'sso-refused'
  | 'sso-nobody'
  | 'sso-key'
  | 'sso-service'
  | 'sso-full'

const PendingSignIn = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  isAdding: z.boolean(),
})

/** `GET /sign-in/sso?next&add`: redirects to the OpenID Connect provider. */
export const beginSignOn = async (request: Request): Promise<Response> => {
  const header = headerOf(request)
  const { searchParams } = new URL(request.url)
  const asked = sameOriginPath(searchParams.get('next'))
  const next = asked.length > maxNextLength ? '/' : asked
  // Other sites must not start a sign-in that the provider completes silently.
  if (isCrossOrigin(header, 'read')) return signInPage(next)
  try {
    const { scope } = settings()
    const pending = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
    const to = buildAuthorizationUrl(await provider(), {
      redirect_uri: callbackOf(header),
      scope,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    })
    const secret = await sealData(
      { ...pending, next, isAdding: searchParams.has('add') } satisfies z.output<typeof PendingSignIn>,
      { password: sealingSecret(), ttl: pendingSeconds },
    )
    return withCookies(seeOther(to.href), [pendingCookie(header, secret, pendingSeconds)])
  } catch (error) {
    return failed(error, next)
  }
}

/** `GET /sign-in/sso/callback`: the first matching rule selects the account. */
export const finishSignOn = async (request: Request): Promise<Response> => {
  const header = headerOf(request)
  const done = [pendingCookie(header, '', 0)]
  const pending = await pendingIn(header)
  if (!pending) return withCookies(problemPage('sso-late', '/'), done)
  // A proxy may have changed the request's own URL.
  const came = new URL(callbackOf(header))
  came.search = new URL(request.url).search
  // Another sign-in of this browser is pending and may still complete.
  if (came.searchParams.get('state') !== pending.state) return problemPage('sso-late', pending.next)
  try {
    const config = await provider()
    const tokens = await authorizationCodeGrant(config, came, {
      pkceCodeVerifier: pending.verifier,
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      idTokenExpected: true,
    })
    const idClaims: Record<string, unknown> = tokens.claims() ?? {}
    const sub = String(idClaims.sub)
    let [rule, claims] = [ruleFor(idClaims), idClaims]
    const rolesRules = roleRules()
    const lacksGroups = rolesRules !== undefined && groupsIn(rolesRules, idClaims) === undefined
    // Some providers return groups from userinfo only.
    if ((!rule || lacksGroups) && config.serverMetadata().userinfo_endpoint) {
      claims = { ...idClaims, ...(await fetchUserInfo(config, tokens.access_token, sub)) }
      rule ??= ruleFor(claims)
    }
    if (!rule) {
      const who = `${JSON.stringify(personOf(claims))}, sub ${JSON.stringify(sub)}`
      logWarning(inOneLine(`No rule in DEVDECK_OIDC_ACCOUNTS matches ${who}`))
      return withCookies(problemPage('sso-nobody', pending.next), done)
    }
    const account = await verifyKey(rule.api_key)
    const person = personOf(claims)
    const groups = rolesRules && keptGroups(rolesRules, claims)
    // Even for people who are denied access, because their personal keys must lose it, too.
    rememberGroups(person, groups ?? [])
    if (roleOf({ person, groups, account }) === null) {
      logWarning(inOneLine(`No rule in DEVDECK_ROLES lets in ${JSON.stringify(person)}, sub ${JSON.stringify(sub)}`))
      return withCookies(problemPage('sso-nobody', pending.next), done)
    }
    const { cookies } = await signedInResponse(header, account, rule.api_key, {
      add: pending.isAdding,
      person,
      groups,
    })
    return withCookies(seeOther(pending.next), [...done, ...cookies])
  } catch (error) {
    return withCookies(failed(error, pending.next), done)
  }
}

const settings = () => {
  const { signOn } = registry().config
  if (!signOn) throw new HttpError('not_found', 'Single sign-on is not configured: DEVDECK_OIDC_ISSUER is not set')
  return signOn
}

let found: { issuer: string; config: Promise<Configuration> } | undefined

/** Provider metadata, fetched once and again after a failure. */
const provider = (): Promise<Configuration> => {
  const { issuer, clientId, clientSecret } = settings()
  if (found?.issuer === issuer) return found.config
  const config = discovery(
    new URL(issuer),
    clientId,
    undefined,
    clientSecret === undefined ? None() : ClientSecretPost(clientSecret),
    {
      timeout: providerSeconds,
      // The library verifies signatures only on request. Plain http is limited to this machine by the config.
      execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
    },
  )
  found = { issuer, config }
  config.catch(() => {
    found = undefined
  })
  return config
}

/** Groups with the highest roles come first: the cookie has room for few. Those without matter only after the rules change. */
const keptGroups = (given: RoleRules, claims: Record<string, unknown>): string[] => {
  const rank = new Map<string, number>()
  for (const { group, role } of given.rules) rank.set(group, Math.max(rank.get(group) ?? -1, roles.indexOf(role)))
  const rankOf = (group: string) => rank.get(group) ?? -1
  let length = 0
  return (groupsIn(given, claims) ?? [])
    .toSorted((a, b) => rankOf(b) - rankOf(a))
    .filter((group) => {
      length += group.length + 3
      return length <= maxGroupsLength
    })
}

/** Only verified email addresses count. */
const ruleFor = (claims: Record<string, unknown>): SignOnRule | undefined =>
  settings().rules.find(({ claim, value }) => {
    if (claim === 'email' && claims.email_verified !== true) return false
    const said = claims[claim]
    return Array.isArray(said) ? said.includes(value) : said === value
  })

const personOf = ({ email, email_verified, preferred_username, name, sub }: Record<string, unknown>): string => {
  if (email_verified === true && isName(email)) return inOneLine(email).slice(0, maxPersonLength)
  const called = [preferred_username, name].find(isName)?.slice(0, maxNameLength)
  const whole = called === undefined || called === sub ? String(sub) : `${called} (${sub})`
  return inOneLine(whole).slice(0, maxPersonLength)
}

/** Removes line breaks and bidirectional controls: names are shown and logged to others. */
const inOneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ')

const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''

const callbackOf = (header: ReadHeader): string => `${originOfHost(header('host'))}/sign-in/sso/callback`

const begunName = (header: ReadHeader): string => sessionCookieName(header).replace('session', 'sign_on')

/** Lax, because the provider's redirect comes from another site. */
const pendingCookie = (header: ReadHeader, value: string, maxAge: number): string =>
  setCookie(header, begunName(header), value, { maxAge, sameSite: 'Lax' })

const pendingIn = async (header: ReadHeader): Promise<z.output<typeof PendingSignIn> | undefined> => {
  const [seal, ...more] = cookieValues(header, begunName(header))
  if (seal === undefined || more.length > 0) return undefined
  return PendingSignIn.safeParse(await unsealData(seal, { password: openingSecrets(), ttl: pendingSeconds })).data
}

const failed = (error: unknown, next: string): Response => {
  logError(inOneLine(`Single sign-on failed: ${reasonsOf(error).join(': ')}`))
  return problemPage(problemIn(error), next)
}

const problemIn = (error: unknown): SignOnProblem => {
  if (error instanceof HttpError) return refused[error.code] ?? 'sso-service'
  if (error instanceof AuthorizationResponseError) return 'sso-refused'
  // The code was already used, or belongs to another attempt.
  return error instanceof ResponseBodyError && error.error === 'invalid_grant' ? 'sso-late' : 'sso-away'
}

const refused: Partial<Record<HttpError['code'], SignOnProblem>> = {
  not_found: 'sso-away',
  unauthenticated: 'sso-key',
  conflict: 'sso-full',
}

/** One line without response bodies, since anyone can trigger it. */
const reasonsOf = (error: unknown): string[] => {
  if (error instanceof Response) return [`HTTP ${error.status} ${error.headers.get('content-type') ?? ''}`.trim()]
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
    return [error.message, JSON.stringify(error.error), JSON.stringify(error.error_description ?? '')]
  if (!(error instanceof Error)) return []
  const { code } = error as { code?: unknown }
  return [code === undefined ? error.message : `${error.message} (${code})`, ...reasonsOf(error.cause)]
}

const problemPage = (problem: SignOnProblem, next: string): Response => signInPage(next, problem)

const signInPage = (next: string, problem?: SignOnProblem): Response => {
  const query = new URLSearchParams({ ...(problem && { problem }), ...(next !== '/' && { next }) })
  return seeOther(query.size === 0 ? '/sign-in' : `/sign-in?${query}`)
}
