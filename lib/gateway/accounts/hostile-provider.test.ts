import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { SessionView } from '#lib/protocol/session.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'

const clientSecret = 'a-secret-of-the-console'
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 })

let service: TestService
let gateway: TestConsole
let provider: Awaited<ReturnType<typeof startServer>>
let issuer: string
/** Responses of the provider by path. */
let answers: Record<string, RequestListener>
const log: string[] = []

const respondWith =
  (body: unknown, status = 200, type = 'application/json'): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body))

beforeAll(async () => {
  service = await startService()
  gateway = await startConsole(service)
  provider = await startServer((request, response) =>
    (answers[request.url?.split('?')[0] ?? ''] ?? respondWith('nothing', 404))(request, response),
  )
})
afterAll(async () => {
  provider.close()
  await gateway.close()
  await service.close()
})
beforeEach(() => {
  // A new issuer each time, because metadata is fetched once per issuer.
  issuer = `${provider.url.replace('127.0.0.1', 'localhost')}/${Math.random().toString(36).slice(2)}`
  gateway.registry.config.signOn = {
    issuer,
    clientId: 'devdeck',
    clientSecret,
    scope: 'openid',
    rules: [{ claim: 'groups', value: 'team', api_key: service.key }],
  }
  const at = (path: string) => new URL(issuer).pathname + path
  const jwk = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }
  answers = {
    [at('/.well-known/openid-configuration')]: respondWith({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/me`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    [at('/keys')]: respondWith({ keys: [jwk] }),
    [at('/me')]: respondWith({ sub: 'ann' }),
  }
  log.length = 0
  vi.spyOn(console, 'error').mockImplementation((...said: unknown[]) => {
    log.push(said.map((each) => (typeof each === 'string' ? each : inspect(each))).join(' '))
  })
})
afterEach(() => {
  vi.restoreAllMocks()
})

const set = (path: string, answer: RequestListener) => {
  answers[new URL(issuer).pathname + path] = answer
}

const nowS = () => Math.floor(Date.now() / 1000)
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
interface Signing {
  key?: KeyObject
  alg?: string
}
const jwt = (claims: unknown, { key = keys.privateKey, alg = 'RS256' }: Signing = {}): string => {
  const signed = `${part({ alg, kid: 'one' })}.${part(claims)}`
  return `${signed}.${alg === 'none' ? '' : sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

const begin = async (): Promise<{ pendingCookie: string; asked: URLSearchParams; to: string }> => {
  const start = await gateway.fetch('/sign-in/sso')
  const to = start.headers.get('location') ?? ''
  const pendingCookie = start.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return { pendingCookie, to, asked: new URL(to, gateway.url).searchParams }
}
const comeBack = (pendingCookie: string, query: Record<string, string>) =>
  gateway.fetch(`/sign-in/sso/callback?${new URLSearchParams(query)}`, { cookie: pendingCookie })

/** Signs in with these claims; returns the redirect target and the person. */
const signOn = async (more: Record<string, unknown> = {}, signing?: Signing) => {
  const { pendingCookie, asked } = await begin()
  const good = { iss: issuer, aud: 'devdeck', sub: 'ann', iat: nowS(), exp: nowS() + 60, nonce: asked.get('nonce') }
  const id_token = jwt({ ...good, groups: ['team'], ...more }, signing)
  if (!answers[`${new URL(issuer).pathname}/token`])
    set('/token', respondWith({ access_token: 'a-token-of-access', token_type: 'Bearer', id_token }))
  const end = await comeBack(pendingCookie, { code: 'a-code', state: asked.get('state') ?? '' })
  const cookie = end.headers
    .getSetCookie()
    .find((each) => each.startsWith('devdeck_session'))
    ?.split(';')[0]
  const session = cookie && ((await (await gateway.fetch('/api/session', { cookie })).json()) as SessionView)
  return { to: end.headers.get('location'), person: session ? session.person : null }
}
const away = { to: '/sign-in?problem=sso-away', person: null }

it('signs in with a valid token', async () => {
  expect(await signOn()).toEqual({ to: '/', person: 'ann' })
})

it.each<[string, Record<string, unknown>, Signing?]>([
  ['is signed by a key of another issuer', {}, { key: foreign.privateKey }],
  ['is not signed', {}, { alg: 'none' }],
  ['has expired', { iat: nowS() - 400, exp: nowS() - 100 }],
  ['is for another client', { aud: 'another' }],
  ['is from another issuer', { iss: 'https://evil.example' }],
  ['has the nonce of another attempt', { nonce: 'another' }],
  ['has a numeric subject', { sub: 5 }],
])('rejects a token that %s', async (_, claims, signing) => {
  expect(await signOn(claims, signing)).toEqual(away)
  expect(log).toEqual([expect.stringMatching(/^Single sign-on failed: [^\n]+$/)])
})

it.each([
  ['an object', { team: true }],
  ['a list in a list', [['team']]],
  ['a longer text', 'team-a'],
])('does not match a claim with %s', async (_, groups) => {
  expect(await signOn({ groups })).toEqual({ to: '/sign-in?problem=sso-nobody', person: null })
})

it.each([
  ['an unverified email address', { email: 'boss@example.com' }, 'ann'],
  ['the name of another user', { preferred_username: 'boss', name: 'Boss' }, 'boss (ann)'],
  [
    'a name with line breaks and control characters',
    { name: 'a\nFAKE\u001b[31m\u009b\u202ex' },
    'a FAKE [31m  x (ann)',
  ],
  ['only non-text names', { preferred_username: ['boss'], name: { a: 1 } }, 'ann'],
  ['a verified email address', { email: 'ann@example.com', email_verified: true }, 'ann@example.com'],
  ['an email address verified by a text value', { email: 'ann@example.com', email_verified: 'true' }, 'ann'],
])('derives a name from %s', async (_, claims, person) => {
  expect(await signOn(claims)).toEqual({ to: '/', person })
})

it('fetches groups from userinfo when the token lacks them, but not of another subject', async () => {
  set('/me', respondWith({ sub: 'ann', groups: ['team'] }))
  expect(await signOn({ groups: [] })).toEqual({ to: '/', person: 'ann' })
  delete answers[`${new URL(issuer).pathname}/token`]
  set('/me', respondWith({ sub: 'bob', groups: ['team'] }))
  expect(await signOn({ groups: [] })).toEqual(away)
})

it.each<[string, string, RequestListener, string]>([
  ['its metadata with a web page', '/.well-known/openid-configuration', respondWith('<p>', 200, 'text/html'), 'away'],
  ['with a web page instead of a token', '/token', respondWith('<p>', 200, 'text/html'), 'away'],
  ['with an error instead of a token', '/token', respondWith('down', 500, 'text/plain'), 'away'],
  ['with a used code error', '/token', respondWith({ error: 'invalid_grant' }, 400), 'late'],
  ['without an ID token', '/token', respondWith({ access_token: 'a-token-of-access', token_type: 'Bearer' }), 'away'],
  ['without keys', '/keys', respondWith({ keys: [] }), 'away'],
])('reports the problem when the provider responds %s', async (_, path, answer, problem) => {
  set(path, answer)
  const { to } = path.includes('.well-known') ? await begin() : await signOn()
  expect(to).toBe(`/sign-in?problem=sso-${problem}`)
  expect(log).toEqual([expect.stringMatching(/^Single sign-on failed: [^\n]+$/)])
  expect(log[0]).not.toMatch(/a-secret|a-code|a-token/)
})

it('logs one line per failed callback, whatever it contains', async () => {
  const { pendingCookie, asked } = await begin()
  const forged = 'no\nFAKE\u001b[31m\u009b'
  const back = { error: forged, error_description: forged, state: asked.get('state') ?? '' }
  const end = await comeBack(pendingCookie, back)
  expect(end.headers.get('location')).toBe('/sign-in?problem=sso-refused')
  expect(log).toHaveLength(1)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: asserts that they are absent
  expect(log[0]).not.toMatch(/[\x00-\x1f\x7f-\x9f]/)
})

it('keeps a pending sign-in when the callback of another one arrives', async () => {
  const { pendingCookie, asked } = await begin()
  for (const query of [{ code: 'a-code', state: 'another' }, { code: 'a-code' }, {}] as Record<string, string>[]) {
    const end = await comeBack(pendingCookie, query)
    expect([end.headers.get('location'), end.headers.getSetCookie()]).toEqual(['/sign-in?problem=sso-late', []])
  }
  expect(
    (await comeBack(pendingCookie, { error: 'access_denied', state: asked.get('state') ?? '' })).headers.getSetCookie(),
  ).toEqual([expect.stringMatching(/^devdeck_sign_on_\d+=; Path=\/; Max-Age=0;/)])
})
