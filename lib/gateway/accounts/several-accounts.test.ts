import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { accountHeader, type SessionView } from '#lib/protocol/session.ts'
import { startConsole, type TestConsole } from '../testing.ts'

/** A fake service with an account per key that records writes and their keys. */
let service: Server
let gateway: TestConsole
let changed: string[]
beforeAll(async () => {
  service = createServer((request, response) => {
    const id = (request.headers.authorization ?? '').replace('Bearer ', '')
    if (request.method !== 'GET') changed.push(id)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url === '/v1/accounts/me' ? { id, name: `Account ${id}` } : { id: 'axn_1' }))
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  gateway = await startConsole({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
})
afterAll(async () => {
  await gateway.close()
  service.close()
  service.closeAllConnections()
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

  /** The key that a write from a page of account `named` is sent with. */
  async write(named?: string) {
    changed = []
    const { status } = await this.ask('POST', '/api/v1/axons', {}, named)
    return status === 200 ? changed : status
  }
}

let browser: Browser
beforeEach(async () => {
  browser = new Browser()
  await browser.signIn('one')
})

it('adds an account and lists both without their keys', async () => {
  const answer = await browser.signIn('two')
  const view = { account: { id: 'two', name: 'Account two' }, others: [{ id: 'one', name: 'Account one' }] }
  expect(await answer.json()).toMatchObject(view)
  expect(await browser.who()).toMatchObject(view)
  expect(browser.jar.size).toBe(2)
  for (const value of browser.jar.values()) expect(value.length).toBeLessThan(2048)
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
  expect(await browser.write('two')).toEqual(['two'])
  expect(await browser.write('three')).toBe(409)
  const url = `${gateway.url.replace('http', 'ws')}/api/live?account=one`
  const socket = new WebSocket(url, { headers: { cookie: browser.cookie }, origin: gateway.origin })
  await once(socket, 'open')
  socket.terminate()
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
  expect(answer.status).toBe(200)
  expect(answer.headers.get('clear-site-data')).not.toContain('storage')
  const view = (await browser.who()) as SessionView
  expect(view.account.id).toBe('one')
  expect(view.others).toBeUndefined()
  expect(await browser.write('two')).toBe(409)
  expect((await gateway.fetch('/api/session', { cookie: copied })).status).toBe(401)
})

it('signs an account out from its own page and stays on the other', async () => {
  await browser.signIn('two')
  expect((await browser.ask('DELETE', '/api/session', undefined, 'one')).status).toBe(200)
  expect(await browser.who()).toMatchObject({ account: { id: 'two' } })
  expect(await browser.who('one')).toBe(409)
  expect(browser.jar.size).toBe(1)
})

it('signs out of all accounts', async () => {
  await browser.signIn('two')
  const copied = new Map(browser.jar)
  const answer = await browser.ask('DELETE', '/api/session?all=1')
  expect(answer.status).toBe(204)
  expect(answer.headers.get('clear-site-data')).toContain('storage')
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

it('replaces the key of an account it is signed in to', async () => {
  await browser.signIn('two')
  await browser.signIn('one')
  expect(await browser.who()).toMatchObject({ account: { id: 'one' }, others: [{ id: 'two' }] })
  expect(browser.jar.size).toBe(2)
})

it('replaces the current account and keeps the others unless adding', async () => {
  await browser.signIn('two')
  await browser.signIn('three', false)
  expect(await browser.who()).toMatchObject({ account: { id: 'three' }, others: [{ id: 'one' }] })
  expect(await browser.write('two')).toBe(409)
})

it('allows five accounts', async () => {
  for (const key of ['two', 'three', 'four', 'five']) expect((await browser.signIn(key)).status).toBe(200)
  const refused = await browser.signIn('six')
  expect(refused.status).toBe(409)
  expect((await refused.json()).message).toContain('sign out of one first')
  expect(await browser.who()).toMatchObject({ account: { id: 'five' } })
})
