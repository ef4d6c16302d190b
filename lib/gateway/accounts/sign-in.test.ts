import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { wrongKeysPerMinute } from '#lib/limits/wrong-key-limit.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { readConfig } from '../config.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { RevokedSessions } from './revoked-sessions.ts'
import { signInPath } from './session.ts'
import { newSession, sessionCookie, sessionOf, unsealedSessions } from './session-cookie.ts'
import { newSignInPath } from './sign-in.ts'

let service: TestService
let gateway: TestConsole
beforeAll(async () => {
  service = await startService()
  gateway = await startConsole({ url: service.url, ownKey: service.key })
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})
beforeEach(() => {
  gateway.registry.slots.delete('wrongKeys')
})

const post = (body: string, headers: Record<string, string> = {}, at = gateway) =>
  at.fetch('/api/session', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
const withKey = (key: string, headers?: Record<string, string>, at?: TestConsole) =>
  post(JSON.stringify({ api_key: key }), headers, at)
const who = (cookie: string) => gateway.fetch('/api/session', { cookie })
const signOut = (cookie: string) => gateway.fetch('/api/session', { method: 'DELETE', cookie })
const hour = 3_600_000
const sealed = async (startedMs: number, renewedMs = startedMs) => {
  const session = newSession({ id: 'test', name: 'test' }, service.key, { now: startedMs })
  return (await sessionCookie(() => null, { ...session, renewed_at: renewedMs })).split(';')[0] ?? ''
}
const sessionBy = (cookie: string, now?: number) => sessionOf((name) => (name === 'cookie' ? cookie : null), now)

describe('POST /api/session', () => {
  it('signs in with an API key and keeps it in a sealed cookie that scripts and other sites cannot use', async () => {
    const response = await withKey(service.key)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({
      account: { id: 'test', name: 'test' },
      service: { url: service.url, embedded: true },
    })
    const cookie = response.headers.get('set-cookie') ?? ''
    const { port } = new URL(gateway.url)
    expect(cookie).toMatch(
      new RegExp(`^devdeck_session_${port}=Fe26[^;]+; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict$`),
    )
    expect(text + decodeURIComponent(cookie)).not.toContain(service.key)
  })

  it('sets a Secure cookie with the __Host- prefix on a public https origin', async () => {
    const published = await startConsole({ url: service.url }, { publicOrigins: ['https://console.example.com'] })
    const session = newSession({ id: 'test', name: 'test' }, service.key)
    const cookie = await sessionCookie((name) => (name === 'host' ? 'console.example.com' : null), session)
    await published.close()
    expect(cookie).toMatch(/^__Host-devdeck_session_\d+=Fe26.*; Path=\/; .*HttpOnly; SameSite=Strict; Secure$/)
  })

  it('rejects a wrong key with its field and sets no cookie', async () => {
    const response = await withKey('ak_wrong')
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({
      code: 'unauthenticated',
      message: 'The service rejected this key',
      field: 'api_key',
    })
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  it.each([
    ['text that is not declared as JSON', '{"api_key":"k"}', { 'content-type': 'text/plain' }, 415],
    ['JSON that does not parse', '{"api_key"', {}, 400],
    ['no key', '{}', {}, 400],
    ['a key with a line break', '{"api_key":"a\\nb"}', {}, 400],
    ['more than a mebibyte', `{"api_key":"${'k'.repeat(1024 * 1024)}"}`, {}, 413],
    ['another site', '', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 403],
    ['another port of this host', '', { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-site' }, 403],
    ['a sandboxed document', '', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
  ])('rejects %s', async (_, body, headers: Record<string, string>, status) => {
    const response = await post(body || JSON.stringify({ api_key: service.key }), headers)
    expect([response.status, response.headers.get('set-cookie')]).toEqual([status, null])
    expect(await response.json()).toMatchObject({ message: expect.any(String), request_id: expect.any(String) })
  })

  it('limits wrong keys, including concurrent attempts', async () => {
    // The service also counts, with all clients of the console as one.
    const patient = await startServer((_, response) => response.writeHead(401).end('{}'))
    const own = await startConsole(patient)
    const tries = Array.from({ length: wrongKeysPerMinute + 2 }, (_, i) => withKey(`ak_wrong${i}`, {}, own))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([...Array(wrongKeysPerMinute).fill(401), 429, 429])
    const next = await withKey('ak_wrong', {}, own)
    expect([next.status, Number(next.headers.get('retry-after')) > 0]).toEqual([429, true])
    await own.close()
    patient.close()
  })

  it('accepts a correct key while others guess from the same address', async () => {
    for (let i = 0; i <= wrongKeysPerMinute; i++) await withKey(`ak_wrong${i}`)
    expect((await withKey('ak_wrong')).status).toBe(429)
    expect((await withKey(service.key)).status).toBe(200)
  })
})

describe('GET /api/session', () => {
  it('renews a cookie after half its lifetime, for the same session', async () => {
    const fresh = await who(await gateway.signIn(service.key))
    expect([await fresh.json(), fresh.headers.get('set-cookie')]).toMatchObject([{ account: { id: 'test' } }, null])
    const cookie = await sealed(Date.now() - 7 * hour)
    const renewed = (await who(cookie)).headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(renewed).toMatch(/^devdeck_session/)
    expect((await who(renewed)).headers.get('set-cookie')).toBeNull()
    await signOut(cookie)
    expect((await who(renewed)).status).toBe(401)
  })

  it('ends a session after a week, renewed or not', async () => {
    expect((await who(await sealed(Date.now() - 8 * 24 * hour, Date.now()))).status).toBe(401)
  })

  const other = (character: string | undefined) => (character === 'A' ? 'B' : 'A')
  it('returns 401 without a cookie or with any part of it changed', async () => {
    expect((await gateway.fetch('/api/session')).status).toBe(401)
    const parts = (await gateway.signIn(service.key)).split('*')
    expect(parts.length).toBeGreaterThan(5)
    for (const [i, part] of parts.entries()) {
      // The first part begins with the cookie's name; its last character is part of the seal.
      const changed = i === 0 ? `${part.slice(0, -1)}${other(part.at(-1))}` : `${other(part[0])}${part.slice(1)}`
      expect((await who(parts.with(i, changed).join('*'))).status, `part ${i}`).toBe(401)
    }
  })

  it('accepts sessions sealed with an older secret until it is removed from the list', async () => {
    const [first, second] = ['the first secret of thirty-two or more', 'the second secret of thirty-two or more']
    const old = await startConsole({ url: service.url }, { sessionSecrets: [first] })
    const cookie = await old.signIn(service.key)
    const open = async (sessionSecrets: [string, ...string[]]) => {
      old.registry.config.sessionSecrets = sessionSecrets
      // A restarted console with other secrets.
      unsealedSessions(old.registry).clear()
      return (await sessionBy(cookie))?.account.id
    }
    expect(await open([second, first])).toBe('test')
    expect(await open([second])).toBeUndefined()
    await old.close()
  })

  it('does not send a key to another service than it was entered for', async () => {
    const cookie = await gateway.signIn(service.key)
    const own = gateway.registry.service
    gateway.registry.service = { ...own, embedded: false, url: () => 'http://127.0.0.1:9' }
    const { status } = await who(cookie)
    gateway.registry.service = own
    expect(status).toBe(401)
    expect((await who(cookie)).status).toBe(200)
  })

  it('caches unsealed sessions for a minute, but not beyond their expiry', async () => {
    const now = Date.now()
    const cookie = await gateway.signIn(service.key)
    const session = await sessionBy(cookie, now)
    expect(await sessionBy(cookie, now + 59_999)).toBe(session)
    expect(await sessionBy(cookie, now + 60_000)).not.toBe(session)
    const ending = await sealed(now - 7 * 24 * hour + 1000, now)
    expect(await sessionBy(ending, now)).toBeDefined()
    expect(await sessionBy(ending, now + 1000)).toBeUndefined()
  })
})

describe('DELETE /api/session', () => {
  it('clears the cookie and revokes every copy', async () => {
    const [cookie, other] = [await gateway.signIn(service.key), await gateway.signIn(service.key)]
    const response = await signOut(cookie)
    expect([response.status, response.headers.get('clear-site-data')]).toEqual([204, '"cache", "storage"'])
    expect(response.headers.get('set-cookie')).toMatch(
      /^devdeck_session_\d+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/,
    )
    expect((await who(cookie)).status).toBe(401)
    expect((await who(other)).status).toBe(200)
  })

  it('survives a restart of the console', async () => {
    const [left, kept] = [await gateway.signIn(service.key), await gateway.signIn(service.otherKey)]
    const { host } = new URL(gateway.url)
    await signOut(left)
    const after = await startConsole({ url: service.url, ownKey: service.key }, gateway.registry.config)
    after.registry.origins.set(host, gateway.url)
    const valid = (cookie: string) => sessionOf((name) => ({ host, cookie })[name])
    expect(await valid(kept)).toBeDefined()
    expect(await valid(left)).toBeUndefined()
    await after.close()
  })

  it('applies to another console on the same data folder and closes its streams', async () => {
    const cookie = await gateway.signIn(service.key)
    const session = await sessionOf((name) => ({ host: new URL(gateway.url).host, cookie })[name])
    const stream = await gateway.fetch('/api/v1/devboxes/evictions/watch', { cookie })
    expect(stream.status).toBe(200)
    const other = new RevokedSessions(gateway.registry.config.dataDir)
    other.add(session?.sid ?? '', Date.now() + 60_000, false)
    other.close()
    expect((await who(cookie)).status).toBe(401)
    await stream.text().catch(() => undefined)
  })

  it('is rejected without an Origin or Sec-Fetch-Site header', async () => {
    const cookie = await gateway.signIn(service.key)
    const response = await fetch(`${gateway.url}/api/session`, { method: 'DELETE', headers: { cookie } })
    expect([response.status, (await who(cookie)).status]).toEqual([403, 200])
  })
})

describe('GET /sign-in/{token}', () => {
  const follow = (path: string, init: RequestInit = {}) =>
    gateway.fetch(path, { headers: { 'sec-fetch-site': 'none' }, ...init })

  it('signs in only the first visitor', async () => {
    const path = newSignInPath()
    const first = await follow(path)
    expect([first.status, first.headers.get('location')]).toEqual([303, '/'])
    expect((await who(first.headers.get('set-cookie')?.split(';')[0] ?? '')).status).toBe(200)
    for (const used of [path, '/sign-in/nothing']) {
      const again = await follow(used)
      expect([again.status, again.headers.get('location')]).toEqual([303, '/sign-in?problem=link-used'])
      expect(again.headers.get('set-cookie')).toBeNull()
    }
  })

  it('is not used up by prefetches', async () => {
    const path = newSignInPath()
    expect((await follow(path, { method: 'HEAD' })).headers.get('set-cookie')).toBeNull()
    expect((await follow(path, { headers: { 'sec-purpose': 'prefetch' } })).headers.get('set-cookie')).toBeNull()
    expect((await follow(path)).headers.get('location')).toBe('/')
  })

  it('expires after ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const [early, late] = [newSignInPath(), newSignInPath()]
    vi.setSystemTime(Date.now() + 600_000 - 1)
    expect((await follow(early)).headers.get('location')).toBe('/')
    vi.setSystemTime(Date.now() + 1)
    expect((await follow(late)).headers.get('location')).toBe('/sign-in?problem=link-used')
    vi.useRealTimers()
  })
})

it.each([
  ['/devboxes?status=running&_rsc=1abc', '/sign-in?next=%2Fdevboxes%3Fstatus%3Drunning'],
  ['/', '/sign-in'],
  ['/sign-in?next=%2F', '/sign-in'],
  ['//evil.example', '/sign-in'],
  ['/\\evil.example', '/sign-in'],
  ['https://evil.example/x', '/sign-in'],
])('the sign-in page returns to %s as %s', (path, address) => {
  expect(signInPath(path)).toBe(address)
})

describe('the configuration', () => {
  it.each([
    'a'.repeat(64),
    'Password1'.repeat(4),
    '0123456789abcdef0123456789abcdef',
    'a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6',
    'your-super-secret-session-secret-here',
  ])('rejects the guessable session secret %s', (secret) => {
    const DEVDECK_SESSION_SECRET = `${randomBytes(32).toString('base64')},${secret}`
    expect(() => readConfig({ DEVDECK_SESSION_SECRET, DEVDECK_SERVICE_URL: 'http://127.0.0.1:9' })).toThrow(
      /^DEVDECK_SESSION_SECRET must be random; generate one with: openssl rand -base64 32$/,
    )
  })

  it('refuses a data folder of the service that the console would not find', () => {
    for (const DEVDECK_SERVICE_ARGS of ['--keep-ended 1d --data-dir /srv', '--data-dir=/srv'])
      expect(() => readConfig({ DEVDECK_SERVICE_ARGS })).toThrow(/^DEVDECK_SERVICE_ARGS .* set DEVDECK_DATA_DIR/)
  })

  it('names misspelled settings, without their values', () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    readConfig({
      DEVDECK_SESSION_SECRET: randomBytes(32).toString('base64'),
      DEVDECK_SERVICE_URL: 'http://127.0.0.1:9',
    })
    expect(logged).not.toHaveBeenCalled()
    const misspelled = { DEVDECK_ROLE: '/etc/roles.json', DEVDECK_SESION_SECRET: 'do-not-log' }
    readConfig({
      ...misspelled,
      DEVDECK_SESSION_SECRET: randomBytes(32).toString('base64'),
      DEVDECK_SERVICE_URL: 'http://127.0.0.1:9',
    })
    expect(logged.mock.calls.flat()).toEqual([
      expect.stringMatching(/^DEVDECK_ROLE is not a setting/),
      expect.stringMatching(/^DEVDECK_SESION_SECRET is not a setting/),
    ])
    expect(String(logged.mock.calls)).not.toContain('do-not-log')
    logged.mockRestore()
  })

  it.each(['hex', 'base64', 'base64url'] as const)('accepts random session secrets in %s', (encoding) => {
    for (let i = 0; i < 200; i++) {
      const secret = randomBytes(encoding === 'hex' ? 16 : 24).toString(encoding)
      const environment = { DEVDECK_SESSION_SECRET: secret, DEVDECK_SERVICE_URL: 'http://127.0.0.1:9' }
      expect(readConfig(environment).sessionSecrets).toEqual([secret])
    }
  })
})
