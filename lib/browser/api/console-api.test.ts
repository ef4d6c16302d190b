import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { axons } from '#lib/contract/axons.ts'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import { browserApi } from './browser-api.ts'
import { fetchConsole, redirectToSignIn } from './console-api.ts'
import { accountChange, setPageAccount } from './page-account.ts'

/** Keys that the stand-in service refuses; every other key has an account. */
const refused = new Set<string>()
let service: Server
let gateway: TestConsole
const assign = vi.fn()
const { fetch } = globalThis
const fetchAsPage = (url: string, init?: RequestInit) =>
  url.startsWith('/') ? gateway.fetch(url, { ...init, cookie }) : fetch(url, init)
/** The browser's current cookie. */
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
  vi.stubGlobal('window', globalThis)
  vi.stubGlobal('location', { pathname: '/axons', search: '?name=a', assign })
  vi.stubGlobal('fetch', fetchAsPage)
  setPageAccount('one')
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

it('stays if another account has signed in, whichever cookie the call sent', async () => {
  const two = await gateway.signIn('two', cookie)
  expect(await redirectToSignIn()).toBe(false)
  cookie = two
  expect(await redirectToSignIn()).toBe(false)
  expect(assign).not.toHaveBeenCalled()
  expect(accountChange.getSnapshot()).toBe(true)
})

it('stays if the same account has signed in again', async () => {
  cookie = await gateway.signIn('one', cookie)
  expect(await redirectToSignIn()).toBe(false)
  expect(assign).not.toHaveBeenCalled()
})

it('stays while the console is unreachable', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('unreachable')))
  try {
    expect(await redirectToSignIn()).toBe(false)
  } finally {
    vi.stubGlobal('fetch', fetchAsPage)
  }
})

it.each([
  [() => Promise.reject(new TypeError('failed')), { status: 0, message: 'The console is unreachable' }],
  [
    () =>
      Promise.resolve(new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } })),
    { status: 502, message: "The proxy in front of the console can't reach it" },
  ],
  [
    () => Promise.resolve(Response.json({ code: 'bad_upstream', message: 'The service is away' }, { status: 502 })),
    { status: 502, message: 'The service is away' },
  ],
])('blames the service only for its own failures (%#)', async (answer, error) => {
  vi.stubGlobal('fetch', answer)
  try {
    await expect(browserApi({ axons }).axons.list()).rejects.toMatchObject(error)
    await expect(fetchConsole('/api/connection')).rejects.toMatchObject(error)
  } finally {
    vi.stubGlobal('fetch', fetchAsPage)
  }
})

// A page redirects once, so these tests load the module again.
it('redirects with a reason if the service refuses the key', async () => {
  vi.resetModules()
  const page = await import('./console-api.ts')
  refused.add('one')
  expect(await page.redirectToSignIn()).toBe(true)
  expect(assign).toHaveBeenCalledWith('/sign-in?next=%2Faxons%3Fname%3Da&problem=key-refused')
})

it('redirects if the session has ended', async () => {
  vi.resetModules()
  const page = await import('./console-api.ts')
  await gateway.fetch('/api/session', { method: 'DELETE', cookie })
  expect(await page.redirectToSignIn()).toBe(true)
  expect(assign).toHaveBeenCalledWith('/sign-in?next=%2Faxons%3Fname%3Da')
})
