import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { accountHeader } from '#lib/protocol/session.ts'
import { startConsole, type TestConsole } from '../testing.ts'

/** A fake service with an account per key that records writes. */
let service: Server
let gateway: TestConsole
let changed: string[]
let one: string
let two: string
beforeAll(async () => {
  service = createServer((request, response) => {
    const id = (request.headers.authorization ?? '').replace('Bearer ', '')
    if (request.method !== 'GET') changed.push(`${id} ${request.url}`)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url === '/v1/accounts/me' ? { id, name: `Account ${id}` } : { id: 'axn_1' }))
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  gateway = await startConsole({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
  one = await gateway.signIn('one')
  two = await gateway.signIn('two')
})
afterAll(async () => {
  await gateway.close()
  service.close()
  service.closeAllConnections()
})
beforeEach(() => {
  changed = []
})

const write = (cookie: string, named?: string) =>
  gateway.fetch('/api/v1/axons', {
    method: 'POST',
    cookie,
    body: '{}',
    headers: { 'content-type': 'application/json', ...(named && { [accountHeader]: named }) },
  })

it('a page of account one does not write to account two', async () => {
  const answer = await write(two, 'one')
  expect(answer.status).toBe(409)
  expect(answer.headers.get(accountHeader)).toBe('two')
  expect(await answer.json()).toMatchObject({
    code: 'conflict',
    message: 'This page belongs to another account; this browser is now signed in as Account two',
  })
  expect(changed).toEqual([])
})

it('a write with its own account, or without one as from scripts, succeeds', async () => {
  expect((await write(one, 'one')).status).toBe(200)
  expect((await write(two)).status).toBe(200)
  expect(changed).toEqual(['one /v1/axons', 'two /v1/axons'])
})

it.each(['/api/v1/axons', '/api/session', '/api/alerts', '/api/terminals/dbx_1', '/api/recordings'])(
  'a page of account one reads nothing of account two at %s',
  async (path) => {
    const answer = await gateway.fetch(path, { cookie: two, headers: { [accountHeader]: 'one' } })
    expect(answer.status).toBe(409)
  },
)

it('a page of account one does not sign account two out', async () => {
  const headers = { [accountHeader]: 'one' }
  expect((await gateway.fetch('/api/session', { method: 'DELETE', cookie: two, headers })).status).toBe(409)
  expect((await gateway.fetch('/api/session', { cookie: two })).status).toBe(200)
})

it.each(['/api/live', '/api/terminals/dbx_1/main'])('a WebSocket at %s has its account in the URL', async (path) => {
  const url = `${gateway.url.replace('http', 'ws')}${path}`
  const socket = new WebSocket(`${url}?account=one`, { headers: { cookie: two }, origin: gateway.origin })
  const [, refused] = await once(socket, 'unexpected-response')
  expect(refused.statusCode).toBe(409)
  expect(refused.headers[accountHeader]).toBe('two')
  refused.resume()
  socket.on('error', () => undefined).terminate()
  const own = new WebSocket(`${url}?account=two`, { headers: { cookie: two }, origin: gateway.origin })
  await once(own, 'open')
  own.terminate()
})

describe('the cookie of a replaced account', () => {
  it.each(['/api/session', '/api/v1/axons', '/api/live'])('gets 409 instead of 401 at %s', async (path) => {
    const before = await gateway.signIn('one')
    await gateway.signIn('two', before)
    const answer = await gateway.fetch(path, { cookie: before, headers: { [accountHeader]: 'one' } })
    expect(answer.status).toBe(409)
    expect(answer.headers.get(accountHeader)).toBe('')
    expect(await answer.json()).toMatchObject({ message: 'This browser has signed in to another account' })
  })

  it('is rejected', async () => {
    const before = await gateway.signIn('one')
    await gateway.signIn('two', before)
    expect((await write(before, 'one')).status).toBe(409)
    expect((await write(before)).status).toBe(409)
    expect(changed).not.toContain('one /v1/axons')
    expect(changed).not.toContain('two /v1/axons')
  })

  it('gets 401 when the same account signed in again or signed out', async () => {
    const before = await gateway.signIn('one')
    const then = await gateway.signIn('one', before)
    expect((await gateway.fetch('/api/session', { cookie: before })).status).toBe(401)
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: then })
    expect((await gateway.fetch('/api/session', { cookie: then })).status).toBe(401)
  })
})
