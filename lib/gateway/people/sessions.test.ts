import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { liveClose } from '#lib/protocol/live.ts'
import type { SessionList } from '#lib/protocol/sessions.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { newSession, sessionCookie } from '../accounts/session-cookie.ts'
import { newSignInPath } from '../accounts/sign-in.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { forgetSession, sessionStore } from './session-store.ts'
import { testRules } from './testing.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

let service: TestService
let gateway: TestConsole
let account: { id: string; name: string }
beforeAll(async () => {
  service = await startService()
  gateway = await startConsole(
    { url: service.url, ownKey: service.key },
    { roles: { file: '/nowhere/roles.json', rules: testRules } },
  )
  account = await service.client.accounts.me()
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

let people = 0
const newPerson = () => `person${++people}@example.com`

const signedIn = async (person: string, group = 'everyone', userAgent?: string): Promise<string> => {
  const headers = { host: new URL(gateway.url).host, 'user-agent': userAgent, 'x-devdeck-client': '192.0.2.7' }
  const session = newSession(account, service.key, { person, groups: [group] })
  return cookieOf(await sessionCookie((name) => headers[name as keyof typeof headers], session))
}
const cookieOf = (setCookie: string) => setCookie.split(';')[0] ?? ''
const list = async (cookie: string): Promise<SessionList> => (await gateway.ask(cookie, 'GET', '/api/sessions')).body
const currentId = async (cookie: string) => (await list(cookie)).sessions.find((each) => each.is_current)?.id ?? ''
const statusOf = async (cookie: string) => (await gateway.ask(cookie, 'GET', '/api/session')).status

describe('GET /api/sessions', () => {
  it("lists the caller's with browser, address and times, last used first", async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    vi.useFakeTimers({ toFake: ['Date'] })
    const ann = newPerson()
    await signedIn(newPerson())
    await signedIn(ann, 'everyone', firefox)
    vi.setSystemTime(Date.now() + 1_000)
    const { sessions, total_count, n_others } = await list(await signedIn(ann))
    expect([total_count, n_others]).toEqual([2, 1])
    expect(sessions.map(({ is_current }) => is_current)).toEqual([true, false])
    const since_ms = Date.now() - 1_000
    expect(sessions[1]).toEqual({
      id: expect.any(String),
      person: ann,
      method: 'sso',
      browser: 'Firefox on Linux',
      address: '192.0.2.7',
      since_ms,
      last_used_ms: since_ms,
      is_own: true,
      is_current: false,
    })
  })

  it("lists everyone's in the account for an operator", async () => {
    const [ann, olga] = [newPerson(), newPerson()]
    await signedIn(ann)
    await gateway.signIn(service.otherKey)
    const { sessions } = await list(await signedIn(olga, 'platform'))
    expect(sessions.find(({ person }) => person === ann)?.is_own).toBe(false)
    expect(sessions.find(({ person }) => person === olga)?.is_own).toBe(true)
    const other = await list(await gateway.signIn(service.otherKey))
    expect(other.sessions.filter(({ method }) => method === 'sso')).toEqual([])
  })

  it('names how a session without single sign-on began, and its typed name as unverified', async () => {
    const byKey = await gateway.signIn(service.key)
    const link = await gateway.fetch(newSignInPath(), {
      headers: { 'sec-fetch-site': 'none' },
      cookie: 'devdeck-name=Bob%E2%80%AE',
    })
    const { sessions } = await list(cookieOf(link.headers.get('set-cookie') ?? ''))
    expect(sessions.find(({ is_current }) => is_current)).toMatchObject({ method: 'link', person: 'Bob (unverified)' })
    const id = await currentId(byKey)
    expect(sessions.find((each) => each.id === id)).toMatchObject({ method: 'key', person: null, is_own: true })
  })

  it('shows a session of an older version once it is used', async () => {
    const header = (name: string) => (name === 'host' ? new URL(gateway.url).host : null)
    const { method: _, ...older } = newSession(account, service.key, { person: newPerson(), groups: ['everyone'] })
    const cookie = cookieOf(await sessionCookie(header, older))
    forgetSession(older.sid)
    sessionStore().close()
    gateway.registry.slots.delete('sessionStore')
    expect((await list(cookie)).sessions).toMatchObject([{ id: older.sid, method: 'sso', is_current: true }])
  })

  it('writes the last use at most once a minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const startedMs = Date.now()
    const cookie = await signedIn(newPerson())
    const lastUse = async (ms: number) => {
      vi.setSystemTime(startedMs + ms)
      return ((await list(cookie)).sessions[0]?.last_used_ms ?? 0) - startedMs
    }
    expect([await lastUse(59_999), await lastUse(60_000), await lastUse(61_000)]).toEqual([0, 60_000, 60_000])
  })

  it('leaves out expired sessions', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const ann = newPerson()
    await signedIn(ann)
    vi.setSystemTime(Date.now() + 12 * 3_600_000)
    expect((await list(await signedIn(ann))).total_count).toBe(1)
  })
})

describe('DELETE /api/sessions', () => {
  it('ends one session at once, with its streams', async () => {
    const ann = newPerson()
    const [here, there] = [await signedIn(ann), await signedIn(ann)]
    const page = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/live`, {
      headers: { cookie: there, origin: gateway.url },
    })
    const closed = new Promise<number>((resolve) => page.once('close', resolve))
    await new Promise((resolve) => page.once('message', resolve))
    expect((await gateway.ask(here, 'DELETE', `/api/sessions/${await currentId(there)}`)).status).toBe(200)
    expect(await closed).toBe(liveClose.signedOut)
    expect([await statusOf(there), await statusOf(here)]).toEqual([401, 200])
    expect((await list(here)).total_count).toBe(1)
  })

  it('ends all other sessions of the caller', async () => {
    const [ann, olga] = [newPerson(), newPerson()]
    const [here, second, third] = [await signedIn(ann), await signedIn(ann), await signedIn(ann)]
    const operator = await signedIn(olga, 'platform')
    expect((await gateway.ask(here, 'DELETE', '/api/sessions')).status).toBe(200)
    const statuses = [here, second, third, operator].map(statusOf)
    expect(await Promise.all(statuses)).toEqual([200, 401, 401, 200])
    expect((await gateway.ask(operator, 'DELETE', '/api/sessions')).status).toBe(200)
    expect(await statusOf(here)).toBe(200)
    const { body } = await gateway.ask(here, 'GET', '/api/activity?search=sessions.endOthers')
    expect(body.activities).toContainEqual(expect.objectContaining({ person: ann, subject: '2 sessions' }))
  })

  it.each([
    ['/api/personal-keys', { name: 'late' }],
    ['/api/shares', {}],
    ['/api/alerts/receivers', {}],
    ['/api/reveal', {}],
  ])('ends a request to %s whose body arrives later', async (path, body) => {
    const ann = newPerson()
    const [here, there] = [await signedIn(ann, 'platform'), await signedIn(ann, 'platform')]
    // Loads its route.
    await gateway.ask(here, 'GET', path)
    const bytes = new TransformStream<Uint8Array, Uint8Array>()
    const writer = bytes.writable.getWriter()
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', body: bytes.readable, duplex: 'half' } as const
    const answer = gateway.fetch(path, { ...init, headers, cookie: there })
    const [first, rest] = [JSON.stringify(body).slice(0, 1), JSON.stringify(body).slice(1)].map((text) =>
      Buffer.from(text),
    )
    await writer.write(first ?? Buffer.of())
    expect(await statusOf(there)).toBe(200)
    expect((await gateway.ask(here, 'DELETE', '/api/sessions')).status).toBe(200)
    await writer.write(rest ?? Buffer.of())
    await writer.close()
    expect((await answer).status).toBe(401)
  })

  it("refuses another person's session, except for an operator", async () => {
    const [ann, bob] = [await signedIn(newPerson()), await signedIn(newPerson())]
    const id = await currentId(ann)
    expect((await gateway.ask(bob, 'DELETE', `/api/sessions/${id}`)).status).toBe(404)
    expect(await statusOf(ann)).toBe(200)
    const operator = await signedIn(newPerson(), 'platform')
    expect((await gateway.ask(operator, 'DELETE', `/api/sessions/${id}`)).status).toBe(200)
    expect(await statusOf(ann)).toBe(401)
    expect((await gateway.ask(operator, 'DELETE', `/api/sessions/${id}`)).body.message).toMatch(/ended already/)
  })

  it('is not performed by a HEAD request', async () => {
    const ann = newPerson()
    const [here, there] = [await signedIn(ann), await signedIn(ann)]
    const headers = { origin: gateway.url }
    expect((await gateway.fetch('/api/sessions', { method: 'HEAD', cookie: here, headers })).status).toBe(200)
    expect(await statusOf(there)).toBe(200)
  })

  it('refuses other sites', async () => {
    const cookie = await signedIn(newPerson())
    const response = await gateway.fetch('/api/sessions', {
      method: 'DELETE',
      cookie,
      headers: { origin: 'https://evil.example' },
    })
    expect(response.status).toBe(403)
  })
})
