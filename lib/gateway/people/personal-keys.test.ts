import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { PersonalKey } from '#lib/protocol/personal-keys.ts'
import { terminalClose } from '#lib/protocol/terminals.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { newSession, sessionCookie } from '../accounts/session-cookie.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { rememberGroups } from './key-store.ts'
import type { RoleRules } from './role-rules.ts'
import { roleRules } from './roles.ts'
import { makeRolesFile, testRules } from './testing.ts'

const { folder, file, write, remove } = makeRolesFile()
const rules = testRules
const writeRules = async (content: RoleRules) => {
  write(content)
  await vi.waitFor(() => expect(roleRules()).toEqual(content), 10_000)
}

let service: TestService
let gateway: TestConsole
let account: { id: string; name: string }
let dataDir: string
beforeAll(async () => {
  dataDir = mkdtempSync(join(folder, 'data-'))
  service = await startService()
  gateway = await startConsole({ url: service.url }, { roles: { file, rules }, dataDir })
  account = await service.client.accounts.me()
})
afterAll(async () => {
  await gateway.close()
  await service.close()
  remove()
})
const logged: string[] = []
beforeEach(() => {
  for (const level of ['log', 'error', 'warn'] as const)
    vi.spyOn(console, level).mockImplementation((...texts) => void logged.push(texts.join(' ')))
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

let people = 0
const newPerson = () => `person${++people}@example.com`
const signedIn = async (person: string, group: string, serviceKey = service.key): Promise<string> => {
  rememberGroups(person, [group])
  const header = (name: string) => (name === 'host' ? new URL(gateway.url).host : null)
  const session = newSession(account, serviceKey, { person, groups: [group] })
  return (await sessionCookie(header, session)).split(';')[0] ?? ''
}
const create = (cookie: string, body: Record<string, unknown> = {}) =>
  gateway.ask(cookie, 'POST', '/api/personal-keys', { name: 'ci', ...body })
const newKey = async (cookie: string, body: Record<string, unknown> = {}): Promise<string> =>
  (await create(cookie, body)).body.key
const keys = async (cookie: string): Promise<PersonalKey[]> =>
  (await gateway.ask(cookie, 'GET', '/api/personal-keys')).body.keys

/** As a script sends it: no cookie, no Origin. */
const call = async (
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the shape
  const parsed: any = await response.json().catch(() => undefined)
  return { status: response.status, body: parsed }
}
const devboxesWith = async (key: string) => (await call(key, 'GET', '/api/v1/devboxes')).status

describe('a personal key', () => {
  it('calls the API with the role and the name of its person, and the activity names the key', async () => {
    const ann = newPerson()
    const cookie = await signedIn(ann, 'research')
    const key = await newKey(cookie, { name: 'nightly' })
    expect(key).toMatch(/^dvd_[\w-]{43}$/)
    expect((await call(key, 'GET', '/api/session')).body).toMatchObject({ person: ann, role: 'member' })
    expect((await call(key, 'POST', '/api/v1/axons', { name: 'by-key' })).status).toBe(200)
    const { body } = await gateway.ask(cookie, 'GET', '/api/activity')
    expect(body.activities[0]).toMatchObject({ operation: 'axons.create', person: ann, browser: 'Key nightly' })
  })

  it("refuses a viewer's writes, and an operator's from a member", async () => {
    const viewer = await newKey(await signedIn(newPerson(), 'everyone'))
    expect(await devboxesWith(viewer)).toBe(200)
    expect((await call(viewer, 'POST', '/api/v1/axons', { name: 'no' })).status).toBe(403)
    expect((await call(viewer, 'POST', '/api/demo', {})).status).toBe(403)
    const member = await newKey(await signedIn(newPerson(), 'platform'), { role: 'member' })
    expect((await call(member, 'POST', '/api/v1/secrets', { name: 'A', value: 'b' })).body.message).toBe(
      "Members can't do this. Ask an operator.",
    )
  })

  it('is refused beyond the limit, also when many are created at once', async () => {
    const cookie = await signedIn(newPerson(), 'everyone')
    const answers = await Promise.all(Array.from({ length: 55 }, () => create(cookie)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
    expect(answers.find(({ status }) => status === 409)?.body.message).toMatch(/revoke one first/)
    expect(await keys(cookie)).toHaveLength(50)
  })

  it("has the lower of its own and the person's current role", async () => {
    const ann = newPerson()
    const cookie = await signedIn(ann, 'platform')
    const key = await newKey(cookie)
    const role = async () => (await call(key, 'GET', '/api/session')).body.role
    expect(await role()).toBe('operator')
    // The next sign-in brings other groups.
    await signedIn(ann, 'everyone')
    expect(await role()).toBe('viewer')
    await writeRules({ ...rules, rules: rules.rules.slice(1) })
    expect((await call(key, 'GET', '/api/v1/devboxes')).body.message).toMatch(/no longer has access/)
    await writeRules(rules)
    expect((await keys(await signedIn(newPerson(), 'platform'))).find(({ person }) => person === ann)).toMatchObject({
      role: 'operator',
      current_role: 'viewer',
    })
  })

  it('is refused once revoked, with its streams and terminals', async () => {
    const cookie = await signedIn(newPerson(), 'research')
    const key = await newKey(cookie)
    const authorization = `Bearer ${key}`
    const devbox = await service.devbox()
    const terminal = new WebSocket(
      `${gateway.url.replace('http', 'ws')}/api/terminals/${devbox}/main?cols=80&rows=24&client=script`,
      { headers: { authorization } },
    )
    let screen = ''
    terminal.on('message', (data: Buffer, isBinary) => {
      if (isBinary) screen += data
    })
    const closed = new Promise<number>((resolve) => terminal.once('close', resolve))
    await new Promise((resolve) => terminal.once('open', resolve))
    terminal.send(Buffer.from('echo by-k$((1))y\n'))
    await expect.poll(() => screen, { timeout: 20_000 }).toContain('by-k1y')
    const events = await fetch(`${gateway.url}/api/v1/devboxes/evictions/watch`, { headers: { authorization } })
    expect(events.status).toBe(200)

    const [{ id = '' } = {}] = await keys(cookie)
    expect((await gateway.ask(cookie, 'DELETE', `/api/personal-keys/${id}`)).status).toBe(200)
    expect(await closed).toBe(terminalClose.signedOut)
    await events.text().catch(() => undefined)
    expect(await call(key, 'GET', '/api/v1/devboxes')).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated', message: 'This personal key is unknown or was revoked' },
    })
    expect((await gateway.ask(cookie, 'DELETE', `/api/personal-keys/${id}`)).status).toBe(404)
  }, 60_000)

  it('expires, which also ends its streams', async () => {
    const key = await newKey(await signedIn(newPerson(), 'everyone'), { expires_days: 1 })
    const events = await fetch(`${gateway.url}/api/v1/devboxes/evictions/watch`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(events.status).toBe(200)
    vi.useFakeTimers({ now: Date.now() + 24 * 3_600_000, toFake: ['Date'] })
    await events.text().catch(() => undefined)
    expect((await call(key, 'GET', '/api/v1/devboxes')).body.message).toBe('This personal key has expired')
  })

  it('takes precedence over a cookie in the same request', async () => {
    const operator = await signedIn(newPerson(), 'platform')
    const key = await newKey(await signedIn(newPerson(), 'everyone'))
    const headers = { cookie: operator, origin: gateway.url }
    const secret = { name: 'BOTH', value: 'b' }
    expect((await call(key, 'POST', '/api/v1/secrets', secret, headers)).status).toBe(403)
    expect((await call(`${key}x`, 'GET', '/api/v1/devboxes', undefined, headers)).status).toBe(401)
    expect((await call(`${key}x`, 'GET', '/api/session', undefined, headers)).status).toBe(401)
    expect((await call(`${key}x`, 'DELETE', '/api/session', undefined, { cookie: operator })).status).toBe(204)
    expect((await gateway.ask(operator, 'GET', '/api/session')).status).toBe(200)
    // Bearer tokens of a proxy in front of the console don't count.
    expect((await call('eyJhbGciOiJub25lIn0.e30.', 'GET', '/api/session', undefined, headers)).status).toBe(200)
    expect((await call('eyJ', 'POST', '/api/v1/secrets', secret, { cookie: operator })).status).toBe(403)
  })

  it('can neither create keys nor end sessions', async () => {
    const key = await newKey(await signedIn(newPerson(), 'platform'))
    for (const [method, path] of [
      ['POST', '/api/personal-keys'],
      ['GET', '/api/personal-keys'],
      ['DELETE', '/api/personal-keys/key_1'],
      ['GET', '/api/sessions'],
      ['DELETE', '/api/sessions'],
      ['POST', '/api/alerts/push'],
    ] as const)
      expect([path, (await call(key, method, path, method === 'POST' ? { name: 'x' } : undefined)).status]).toEqual([
        path,
        403,
      ])
  })

  it('reads reports, which also take API keys of the service', async () => {
    const key = await newKey(await signedIn(newPerson(), 'everyone'))
    expect((await call(key, 'GET', '/api/benchmark-jobs/bmj_none/report')).status).toBe(404)
    expect((await call('wrong-key-of-the-service', 'GET', '/api/benchmark-jobs/bmj_none/report')).status).toBe(401)
  })

  it('stores its last use at most once a minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const startedMs = Date.now()
    const cookie = await signedIn(newPerson(), 'everyone')
    const key = await newKey(cookie)
    const lastUse = async () => (await keys(cookie))[0]?.last_used_ms
    expect(await lastUse()).toBeNull()
    const seen = []
    for (const ms of [0, 59_999, 60_000]) {
      vi.setSystemTime(startedMs + ms)
      await devboxesWith(key)
      seen.push(((await lastUse()) ?? 0) - startedMs)
    }
    expect(seen).toEqual([0, 0, 60_000])
  })

  it('is neither logged nor stored', async () => {
    const key = await newKey(await signedIn(newPerson(), 'everyone'))
    await devboxesWith(key)
    await devboxesWith(`${key}x`)
    const secret = key.slice('dvd_'.length)
    expect(logged.join('\n')).not.toContain(secret)
    for (const name of readdirSync(dataDir).filter((each) => each.includes('.sqlite'))) {
      const stored = readFileSync(join(dataDir, name))
      expect([name, stored.includes(secret), stored.includes(service.key)]).toEqual([name, false, false])
    }
  })
})

describe('/api/personal-keys', () => {
  it("gives no role above the caller's", async () => {
    const member = await signedIn(newPerson(), 'research')
    expect((await create(member, { role: 'operator' })).body).toMatchObject({ code: 'invalid_argument', field: 'role' })
    expect((await create(member, { role: 'viewer' })).status).toBe(200)
    expect((await keys(member)).map(({ role }) => role)).toEqual(['viewer'])
  })

  it.each([
    [{ name: '\u202e \u0000' }, 'name'],
    [{ name: 1 }, 'name'],
    [{ expires_days: 0 }, 'expires_days'],
    [{ expires_days: 366 }, 'expires_days'],
    [{ role: 'root' }, 'role'],
  ])('refuses %j', async (body, field) => {
    const { status, body: error } = await create(await signedIn(newPerson(), 'everyone'), body)
    expect([status, error.field]).toEqual([400, field])
  })

  it("lists the caller's keys; operators see and revoke everyone's", async () => {
    const ann = newPerson()
    const [owner, bob] = [await signedIn(ann, 'everyone'), await signedIn(newPerson(), 'research')]
    const key = await newKey(owner, { name: "Ann's\u202e\nlaptop", expires_days: 30 })
    const [own = {} as PersonalKey] = await keys(owner)
    expect(own).toMatchObject({ name: "Ann's laptop", person: ann, role: 'viewer', last_used_ms: null, is_own: true })
    expect(own.expires_ms).toBe(own.created_ms + 30 * 24 * 3_600_000)
    expect(JSON.stringify(own)).not.toContain(key)
    expect((await keys(bob)).filter(({ id }) => id === own.id)).toEqual([])
    expect((await gateway.ask(bob, 'DELETE', `/api/personal-keys/${own.id}`)).status).toBe(404)
    const operator = await signedIn(newPerson(), 'platform')
    expect((await keys(operator)).find(({ id }) => id === own.id)?.is_own).toBe(false)
    expect((await gateway.ask(operator, 'DELETE', `/api/personal-keys/${own.id}`)).status).toBe(200)
    expect(await devboxesWith(key)).toBe(401)
    const { body } = await gateway.ask(operator, 'GET', '/api/activity?search=personalKeys.revoke')
    expect(body.activities[0].subject).toBe(`${own.id}/Ann's laptop`)
  })

  it('works for people who signed in with an API key of the service', async () => {
    const cookie = `${await gateway.signIn(service.key)}; devdeck-name=Eve`
    const key = await newKey(cookie, { role: 'member' })
    expect((await call(key, 'POST', '/api/v1/axons', { name: 'eve' }, { cookie: 'devdeck-name=Mallory' })).status).toBe(
      200,
    )
    const { body } = await gateway.ask(cookie, 'GET', '/api/activity')
    expect(body.activities[0]).toMatchObject({ person: 'Eve (unverified)', browser: 'Key ci' })
    gateway.registry.config.isSignOnOnly = true
    try {
      expect(await devboxesWith(key)).toBe(401)
    } finally {
      gateway.registry.config.isSignOnOnly = false
    }
  })

  it('refuses other sites', async () => {
    const cookie = await signedIn(newPerson(), 'everyone')
    const headers = { origin: 'https://evil.example', 'content-type': 'application/json' }
    const response = await gateway.fetch('/api/personal-keys', {
      method: 'POST',
      cookie,
      headers,
      body: '{"name":"x"}',
    })
    expect(response.status).toBe(403)
  })
})
