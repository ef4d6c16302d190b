import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import { leaveForSignIn } from './ask-console.ts'
import { accountChange, drawnFor } from './page-account.ts'

/** Plays a service with an account for every key but those that it refuses. */
const refused = new Set<string>()
let service: Server
let gateway: TestConsole
const assign = vi.fn()
const { fetch } = globalThis
/** As a page of the console does. */
const fetchAsPage = (url: string, init?: RequestInit) =>
  url.startsWith('/') ? gateway.fetch(url, { ...init, cookie }) : fetch(url, init)
/** Of the browser by now. */
let cookie: string
beforeAll(async () => {
  service = createServer((request, response) => {
    const id = (request.headers.authorization ?? '').replace('Bearer ', '')
    response.setHeader('content-type', 'application/json')
    if (refused.has(id)) return response.writeHead(401).end('{"code":"unauthenticated","message":"no"}')
    response.end(JSON.stringify({ id, name: `Account ${id}` }))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  gateway = await startConsole({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
  // What a browser gives its page.
  vi.stubGlobal('window', globalThis)
  vi.stubGlobal('location', { pathname: '/axons', search: '?name=a', assign })
  vi.stubGlobal('fetch', fetchAsPage)
  drawnFor('one')
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await gateway.close()
  service.close()
  service.closeAllConnections()
})
beforeEach(async () => {
  assign.mockClear()
  refused.clear()
  cookie = await gateway.signIn('one')
})

it('stays where another account was signed in to, whichever cookie the call had', async () => {
  const two = await gateway.signIn('two', cookie)
  expect(await leaveForSignIn()).toBe(false)
  cookie = two
  expect(await leaveForSignIn()).toBe(false)
  expect(assign).not.toHaveBeenCalled()
  expect(accountChange.getSnapshot()).toBe(true)
})

it('stays where the same account was signed in to anew, as its key is good', async () => {
  cookie = await gateway.signIn('one', cookie)
  expect(await leaveForSignIn()).toBe(false)
  expect(assign).not.toHaveBeenCalled()
})

it('leaves by itself no page whose console is away', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('away')))
  try {
    expect(await leaveForSignIn()).toBe(false)
  } finally {
    vi.stubGlobal('fetch', fetchAsPage)
  }
})

// The page leaves once: each of these is a page of its own.
it('leaves, and says why, where the service refuses the key', async () => {
  vi.resetModules()
  const page = await import('./ask-console.ts')
  refused.add('one')
  expect(await page.leaveForSignIn()).toBe(true)
  expect(assign).toHaveBeenCalledWith('/sign-in?next=%2Faxons%3Fname%3Da&problem=key-refused')
})

it('leaves where nobody is signed in', async () => {
  vi.resetModules()
  const page = await import('./ask-console.ts')
  await gateway.fetch('/api/session', { method: 'DELETE', cookie })
  expect(await page.leaveForSignIn()).toBe(true)
  expect(assign).toHaveBeenCalledWith('/sign-in?next=%2Faxons%3Fname%3Da')
})
