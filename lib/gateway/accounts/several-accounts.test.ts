import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { accountHeader, type SessionView } from '#lib/protocol/session.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'

/** A fake service with an account per key that records the keys of writes. */
let service: Awaited<ReturnType<typeof startServer>>
let gateway: TestConsole
let changed: string[]
beforeAll(async () => {
  service = await startServer((request, response) => {
    const id = (request.headers.authorization ?? '').replace('Bearer ', '')
    if (request.method !== 'GET') changed.push(id)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url === '/v1/accounts/me' ? { id, name: `Account ${id}` } : { id: 'axn_1' }))
  })
  gateway = await startConsole(service)
})
afterAll(async () => {
  await gateway.close()
  service.close()
})

class Browser {
  readonly jar = new Map<string, string>()

  get cookie() {
    return [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  async ask(method: string, path: string, body?: unknown, named?: string) {
    const answer = await gateway.fetch(path, {
      method,
      cookie: this.cookie,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', ...(named && { [accountHeader]: named }) },
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (line.includes('Max-Age=0')) this.jar.delete(name)
      else this.jar.set(name, value)
    }
    return answer
  }

  signIn(key: string, add = true) {
    return this.ask('POST', '/api/session', { api_key: key, add })
  }

  async who(named?: string): Promise<SessionView | number> {
    const answer = await this.ask('GET', '/api/session', undefined, named)
    return answer.ok ? answer.json() : answer.status
  }

  /** The keys that a write from a page of account `named` is sent with, or its status. */
  async write(named?: string) {
    changed = []
    const { status } = await this.ask('POST', '/api/v1/axons', {}, named)
    return status === 200 ? changed : status
  }
}

let browser: Browser
beforeEach(async () => {
  changed = []
  browser = new Browser()
  await browser.signIn('one')
})

it('adds an account and lists both without their keys', async () => {
  const answer = await browser.signIn('two')
  const view = { account: { id: 'two', name: 'Account two' }, others: [{ id: 'one', name: 'Account one' }] }
  expect(await answer.json()).toMatchObject(view)
  expect(await browser.who()).toMatchObject(view)
  expect(browser.jar.size).toBe(2)
})

it('fits an account with the longest key into a cookie', async () => {
  await browser.signIn('k'.repeat(512))
  await browser.signIn('three')
  for (const [name, value] of browser.jar) expect(name.length + value.length).toBeLessThan(4000)
})

it('uses the account of the page while the browser has switched to another', async () => {
  await browser.signIn('two')
  expect(await browser.write()).toEqual(['two'])
  expect(await browser.write('one')).toEqual(['one'])
  expect(await browser.write('three')).toBe(409)
})

it('switches only to an account the browser is signed in to', async () => {
  await browser.signIn('two')
  expect((await browser.ask('PUT', '/api/session', { account: 'one' })).status).toBe(200)
  expect(await browser.who()).toMatchObject({ account: { id: 'one' }, others: [{ id: 'two' }] })
  expect(await browser.write()).toEqual(['one'])
  expect((await browser.ask('PUT', '/api/session', { account: 'three' })).status).toBe(404)
  expect((await browser.ask('PUT', '/api/session', {})).status).toBe(400)
  expect((await gateway.fetch('/api/session', { method: 'PUT', body: '{"account":"one"}' })).status).not.toBe(200)
})

it('signs out of one account, switches to the other and revokes copied cookies', async () => {
  await browser.signIn('two')
  const copied = browser.cookie
  const answer = await browser.ask('DELETE', '/api/session', undefined, 'two')
  expect([answer.status, answer.headers.get('clear-site-data')]).toEqual([200, '"cache"'])
  const view = (await browser.who()) as SessionView
  expect([view.account.id, view.others]).toEqual(['one', undefined])
  expect(await browser.write('two')).toBe(409)
  expect((await gateway.fetch('/api/session', { cookie: copied })).status).toBe(401)
})

it('signs an account out from its own page and stays on the other', async () => {
  await browser.signIn('two')
  expect((await browser.ask('DELETE', '/api/session', undefined, 'one')).status).toBe(200)
  expect(await browser.who()).toMatchObject({ account: { id: 'two' } })
  expect(await browser.who('one')).toBe(409)
})

it('signs out of all accounts', async () => {
  await browser.signIn('two')
  const copied = new Map(browser.jar)
  const answer = await browser.ask('DELETE', '/api/session?all=1')
  expect([answer.status, answer.headers.get('clear-site-data')]).toEqual([204, '"cache", "storage"'])
  expect(browser.jar.size).toBe(0)
  for (const [name, value] of copied) browser.jar.set(name, value)
  expect(await browser.who()).toBe(401)
  expect(await browser.who('one')).toBe(401)
})

it('ignores planted sessions of another browser', async () => {
  const attacker = new Browser()
  await attacker.signIn('three')
  await attacker.signIn('four')
  for (const [name, value] of attacker.jar) if (name.includes('.')) browser.jar.set(name, value)
  expect(browser.jar.size).toBe(2)
  expect(((await browser.who()) as SessionView).others).toBeUndefined()
  expect(await browser.write('three')).toBe(409)
  expect((await browser.ask('PUT', '/api/session', { account: 'three' })).status).toBe(404)
})

it('replaces the key of an account it is signed in to, or the current account unless adding', async () => {
  await browser.signIn('two')
  await browser.signIn('one')
  expect(await browser.who()).toMatchObject({ account: { id: 'one' }, others: [{ id: 'two' }] })
  expect(browser.jar.size).toBe(2)
  await browser.signIn('three', false)
  expect(await browser.who()).toMatchObject({ account: { id: 'three' }, others: [{ id: 'two' }] })
  expect(await browser.write('one')).toBe(409)
})

it('allows five accounts', async () => {
  for (const key of ['two', 'three', 'four', 'five']) expect((await browser.signIn(key)).status).toBe(200)
  const refused = await browser.signIn('six')
  expect(refused.status).toBe(409)
  expect((await refused.json()).message).toContain('sign out of one first')
  expect(await browser.who()).toMatchObject({ account: { id: 'five' } })
  await browser.signIn('six', false)
  // The refused one never was a session.
  expect((await (await browser.ask('GET', '/api/sessions')).json()).total_count).toBe(1)
})

describe('a page of an account the browser is no longer signed in to', () => {
  beforeEach(() => browser.signIn('two', false))

  it('writes nothing and learns the current account', async () => {
    const answer = await browser.ask('POST', '/api/v1/axons', {}, 'one')
    expect([answer.status, answer.headers.get(accountHeader)]).toEqual([409, 'two'])
    expect(await answer.json()).toMatchObject({
      code: 'conflict',
      message: 'This page belongs to another account; this browser is now signed in as Account two',
    })
    expect(changed).toEqual([])
    expect(await browser.write('two')).toEqual(['two'])
    expect((await browser.ask('DELETE', '/api/session', undefined, 'one')).status).toBe(409)
    expect(await browser.who()).toMatchObject({ account: { id: 'two' } })
  })

  it.each(['/api/v1/axons', '/api/session', '/api/alerts', '/api/terminals/dbx_1', '/api/recordings'])(
    'reads nothing at %s',
    async (path) => {
      expect((await browser.ask('GET', path, undefined, 'one')).status).toBe(409)
    },
  )

  it.each(['/api/live', '/api/terminals/dbx_1/main'])('opens no WebSocket at %s', async (path) => {
    const open = (account: string) =>
      new WebSocket(`${gateway.url.replace('http', 'ws')}${path}?account=${account}`, {
        headers: { cookie: browser.cookie },
        origin: gateway.origin,
      }).on('error', () => undefined)
    const [, refused] = await once(open('one'), 'unexpected-response')
    expect([refused.statusCode, refused.headers[accountHeader]]).toEqual([409, 'two'])
    refused.resume()
    const own = open('two')
    await once(own, 'open')
    own.terminate()
  })
})

it('rejects the cookie of a replaced account with 409, and of a signed-out one with 401', async () => {
  const replaced = browser.cookie
  await browser.signIn('two', false)
  for (const path of ['/api/session', '/api/v1/axons', '/api/live']) {
    const answer = await gateway.fetch(path, { cookie: replaced, headers: { [accountHeader]: 'one' } })
    expect([answer.status, answer.headers.get(accountHeader)]).toEqual([409, ''])
  }
  const before = browser.cookie
  await browser.signIn('two', false)
  expect((await gateway.fetch('/api/session', { cookie: before })).status).toBe(401)
})
