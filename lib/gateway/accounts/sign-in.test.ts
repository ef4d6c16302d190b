import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { wrongKeysPerMinute } from '#lib/limits/wrong-key-limit.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { readConfig } from '../config.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { RevokedSessions } from './revoked-sessions.ts'
import { newSession, sessionCookie, sessionOf, unsealedSessions } from './session-cookie.ts'
import { newSignInPath, signIn } from './sign-in.ts'

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

const post = (body: string, headers: Record<string, string> = {}) =>
  gateway.fetch('/api/session', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
const withKey = (key: string, headers?: Record<string, string>) => post(JSON.stringify({ api_key: key }), headers)
const who = (cookie: string) => gateway.fetch('/api/session', { cookie })

describe('POST /api/session', () => {
  it('signs in with an API key and returns its account without the key', async () => {
    const response = await withKey(service.key)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({
      account: { id: 'test', name: 'test' },
      service: { url: service.url, embedded: true },
    })
    expect(text).not.toContain(service.key)
  })

  it('keeps the key in a sealed cookie that scripts cannot read and other sites cannot send', async () => {
    const cookie = (await withKey(service.key)).headers.get('set-cookie') ?? ''
    const { port } = new URL(gateway.url)
    expect(cookie).toMatch(
      new RegExp(`^devdeck_session_${port}=Fe26[^;]+; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict$`),
    )
    expect(decodeURIComponent(cookie)).not.toContain(service.key)
  })

  it('sets a Secure cookie with the __Host- prefix on a public https origin', async () => {
    const published = await startConsole({ url: service.url }, { publicOrigins: ['https://console.example.com'] })
    const response = await signIn(
      new Request('http://127.0.0.1/api/session', {
        method: 'POST',
        headers: {
          host: 'console.example.com',
          origin: 'https://console.example.com',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ api_key: service.key }),
      }),
    )
    const cookie = response.headers.get('set-cookie')
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

  it('returns the address of an unreachable service', async () => {
    const lonely = await startConsole({ url: 'http://127.0.0.1:9' })
    const response = await lonely.fetch('/api/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"api_key":"ak_x"}',
    })
    await lonely.close()
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      code: 'unavailable',
      message: 'Cannot reach the service at http://127.0.0.1:9',
    })
  })

  it.each([
    ['text that is not declared as JSON', '{"api_key":"k"}', { 'content-type': 'text/plain' }, 415],
    ['JSON that does not parse', '{"api_key"', {}, 400],
    ['no key', '{}', {}, 400],
    ['a key with a line break', '{"api_key":"a\\nb"}', {}, 400],
    ['more than a mebibyte', `{"api_key":"${'k'.repeat(1024 * 1024)}"}`, {}, 413],
  ])('refuses %s', async (_, body, headers: Record<string, string>, status) => {
    const response = await post(body, headers)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({
      code: expect.any(String),
      message: expect.any(String),
      request_id: expect.any(String),
    })
  })

  it('limits wrong keys, including concurrent attempts', async () => {
    // The service also counts, with all clients of the console as one.
    const patient = createServer((_, response) => response.writeHead(401).end('{}')).listen(0, '127.0.0.1')
    await once(patient, 'listening')
    const own = await startConsole({ url: `http://127.0.0.1:${(patient.address() as AddressInfo).port}` })
    const withWrong = (i: number) =>
      own.fetch('/api/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ api_key: `ak_wrong${i}` }),
      })
    const tries = await Promise.all(Array.from({ length: wrongKeysPerMinute + 2 }, (_, i) => withWrong(i)))
    expect(tries.map(({ status }) => status).sort()).toEqual([...Array(wrongKeysPerMinute).fill(401), 429, 429])
    const next = await withWrong(0)
    expect(next.status).toBe(429)
    expect(Number(next.headers.get('retry-after'))).toBeGreaterThan(0)
    await own.close()
    patient.close()
  })

  it('accepts a correct key while others guess from the same address', async () => {
    for (let i = 0; i <= wrongKeysPerMinute; i++) await withKey(`ak_wrong${i}`)
    const limited = await withKey('ak_wrong')
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await withKey(service.key)).status).toBe(200)
  })

  it('does not count correct keys', async () => {
    for (let i = 0; i <= wrongKeysPerMinute; i++) expect((await withKey(service.key)).status).toBe(200)
  })

  it.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another port of this host', { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-site' }],
    ['a sandboxed document', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('rejects a sign-in from %s', async (_, headers: Record<string, string>) => {
    const response = await withKey(service.key, headers)
    expect(response.status).toBe(403)
    expect(response.headers.get('set-cookie')).toBeNull()
  })
})

describe('GET /api/session', () => {
  it('returns the session and sets no cookie while the old one is fresh', async () => {
    const cookie = await gateway.signIn(service.key)
    const response = await who(cookie)
    expect(await response.json()).toMatchObject({ account: { id: 'test' } })
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  it('renews a cookie after half its lifetime, for the same session', async () => {
    const old = newSession({ id: 'test', name: 'test' }, service.key, { now: Date.now() - 7 * 3600 * 1000 })
    const cookie = (await sessionCookie(() => null, old)).split(';')[0] ?? ''
    const renewed = (await who(cookie)).headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(renewed).toMatch(/^devdeck_session/)
    expect((await who(renewed)).headers.get('set-cookie')).toBeNull()
    await gateway.fetch('/api/session', { method: 'DELETE', cookie })
    expect((await who(renewed)).status).toBe(401)
  })

  it('ends a session after a week, renewed or not', async () => {
    const old = newSession({ id: 'test', name: 'test' }, service.key, { now: Date.now() - 8 * 24 * 3600 * 1000 })
    const cookie = (await sessionCookie(() => null, { ...old, renewed_at: Date.now() })).split(';')[0] ?? ''
    expect((await who(cookie)).status).toBe(401)
  })

  const other = (character: string | undefined) => (character === 'A' ? 'B' : 'A')
  it('returns 401 without a cookie or with any part of it changed', async () => {
    expect((await gateway.fetch('/api/session')).status).toBe(401)
    const cookie = await gateway.signIn(service.key)
    const parts = cookie.split('*')
    expect(parts.length).toBeGreaterThan(5)
    for (const [i, part] of parts.entries()) {
      // The first part begins with the cookie's name; its last character is part of the seal.
      const changed = i === 0 ? `${part.slice(0, -1)}${other(part.at(-1))}` : `${other(part[0])}${part.slice(1)}`
      expect((await who(parts.with(i, changed).join('*'))).status, `part ${i}`).toBe(401)
    }
  })

  it('accepts sessions sealed with an older secret until it is removed from the list', async () => {
    const first = 'the first secret of thirty-two or more'
    const second = 'the second secret of thirty-two or more'
    const old = await startConsole({ url: service.url }, { sessionSecrets: [first] })
    const cookie = await old.signIn(service.key)
    const open = async (sessionSecrets: [string, ...string[]]) => {
      old.registry.config.sessionSecrets = sessionSecrets
      // A restarted console with other secrets.
      unsealedSessions(old.registry).clear()
      return (await sessionOf((name) => (name === 'cookie' ? cookie : null)))?.account.id
    }
    expect(await open([second, first])).toBe('test')
    expect(await open([second])).toBeUndefined()
    await old.close()
  })

  it('does not send a key to another service than it was entered for', async () => {
    const cookie = await gateway.signIn(service.key)
    gateway.registry.service = { ...gateway.registry.service, embedded: false, url: () => 'http://127.0.0.1:9' }
    const { status } = await who(cookie)
    gateway.registry.service = { embedded: true, url: () => service.url, ownKey: () => service.key }
    expect(status).toBe(401)
    expect((await who(cookie)).status).toBe(200)
  })
})

describe('an unsealed session', () => {
  const sessionBy = (cookie: string, now?: number) => sessionOf((name) => (name === 'cookie' ? cookie : null), now)
  const minute = 60_000
  const hour = 60 * minute

  it('is cached for a minute, in the registry that both module copies share', async () => {
    const cookie = await gateway.signIn(service.key)
    const now = Date.now()
    const session = await sessionBy(cookie, now)
    expect(await sessionBy(cookie, now + minute - 1)).toBe(session)
    const unsealedAgain = await sessionBy(cookie, now + minute)
    expect(unsealedAgain).toEqual(session)
    expect(unsealedAgain).not.toBe(session)
  })

  it('is not cached beyond its expiry', async () => {
    const now = Date.now()
    const ending = newSession({ id: 'test', name: 'test' }, service.key, { now: now - 12 * hour + 1000 })
    const seal = (await sessionCookie(() => null, ending)).split(';')[0] ?? ''
    const session = await sessionBy(seal, now)
    expect(await sessionBy(seal, now + 999)).toBe(session)
    expect(await sessionBy(seal, now + 1000)).not.toBe(session)
    const old = {
      ...newSession({ id: 'test', name: 'test' }, service.key, { now: now - 7 * 24 * hour + 1000 }),
      renewed_at: now,
    }
    const oldSeal = (await sessionCookie(() => null, old)).split(';')[0] ?? ''
    expect(await sessionBy(oldSeal, now)).toBeDefined()
    expect(await sessionBy(oldSeal, now + 1000)).toBeUndefined()
  })

  it('is removed from the cache at sign-out, or as the oldest of a thousand', async () => {
    const cache = unsealedSessions(gateway.registry)
    cache.clear()
    const cookie = await gateway.signIn(service.key)
    const session = await sessionBy(cookie)
    if (!session) throw new Error('not signed in')
    await gateway.fetch('/api/session', { method: 'DELETE', cookie })
    expect(cache.size).toBe(0)
    for (let i = 0; i < 1000; i++) cache.set(`seal ${i}`, { session, untilMs: Date.now() + minute })
    await sessionBy(await gateway.signIn(service.key))
    expect(cache.size).toBe(1000)
    expect(cache.has('seal 0')).toBe(false)
  })
})

describe('DELETE /api/session', () => {
  it('clears the cookie and revokes every copy', async () => {
    const cookie = await gateway.signIn(service.key)
    const other = await gateway.signIn(service.key)
    const response = await gateway.fetch('/api/session', { method: 'DELETE', cookie })
    expect(response.status).toBe(204)
    expect(response.headers.get('set-cookie')).toMatch(
      /^devdeck_session_\d+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/,
    )
    expect(response.headers.get('clear-site-data')).toBe('"cache", "storage"')
    expect((await who(cookie)).status).toBe(401)
    expect((await who(other)).status).toBe(200)
  })

  it('survives a restart of the console', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-console-'))
    const before = await startConsole({ url: service.url }, { dataDir })
    const [left, kept] = [await before.signIn(service.key), await before.signIn(service.otherKey)]
    const { host } = new URL(before.url)
    expect((await before.fetch('/api/session', { method: 'DELETE', cookie: left })).status).toBe(204)
    await before.close()
    const after = await startConsole({ url: service.url }, { dataDir })
    const sessionBy = (cookie: string) => sessionOf((name) => ({ host, cookie })[name])
    after.registry.origins.set(host, before.url)
    expect(await sessionBy(kept)).toBeDefined()
    expect(await sessionBy(left)).toBeUndefined()
    await after.close()
    rmSync(dataDir, { recursive: true })
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
    expect(response.status).toBe(403)
    expect((await who(cookie)).status).toBe(200)
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
    const second = await follow(path)
    expect([second.status, second.headers.get('location')]).toEqual([303, '/sign-in?problem=link-used'])
    expect(second.headers.get('set-cookie')).toBeNull()
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

  it('rejects unknown tokens', async () => {
    expect((await follow('/sign-in/nothing')).headers.get('location')).toBe('/sign-in?problem=link-used')
  })
})

describe('the configuration', () => {
  it.each([
    'a'.repeat(64),
    `${'0'.repeat(40)}1a`,
    'Password1'.repeat(4),
    '0123456789abcdef0123456789abcdef',
    'abcdefghijklmnopqrstuvwxyz0123456789',
    'a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6',
    'your-super-secret-session-secret-here',
    '12345678901234567890123456789012345',
  ])('rejects the guessable session secret %s', (secret) => {
    const DEVDECK_SESSION_SECRET = `${randomBytes(32).toString('base64')},${secret}`
    expect(() => readConfig({ DEVDECK_SESSION_SECRET, DEVDECK_SERVICE_URL: 'http://127.0.0.1:9' })).toThrow(
      /^DEVDECK_SESSION_SECRET must be random; generate one with: openssl rand -base64 32$/,
    )
  })

  it.each(['hex', 'base64', 'base64url'] as const)('accepts random session secrets in %s', (encoding) => {
    for (let i = 0; i < 200; i++) {
      const secret = randomBytes(encoding === 'hex' ? 16 : 24).toString(encoding)
      const environment = { DEVDECK_SESSION_SECRET: secret, DEVDECK_SERVICE_URL: 'http://127.0.0.1:9' }
      expect(readConfig(environment).sessionSecrets).toEqual([secret])
    }
  })

  it('reports all problems at once', () => {
    const environment = {
      PORT: '70000',
      DEVDECK_SERVICE_URL: 'http://user:pw@host',
      DEVDECK_SESSION_SECRET: 'short',
      DEVDECK_ORIGIN: 'console',
      HOST: '0.0.0.0',
    }
    expect(() => readConfig(environment)).toThrow(
      [
        'PORT must be a port number from 0 to 65535',
        'DEVDECK_SERVICE_URL must be an http:// or https:// address without credentials, query or fragment',
        'DEVDECK_SESSION_SECRET must have at least 32 characters each',
        'DEVDECK_ORIGIN must be one or more origins such as https://console.example.com, without a path',
      ].join('\n'),
    )
  })
})
