import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import { type CheckEnvironment, type CheckResult, checkConnection } from './connection-test.tsx'

const apiKey = 'a-key-of-many-characters'
let mode: 'normal' | 'unauthorized' | 'html'
let service: Server
let gateway: TestConsole
let cookie: string
const closing: Server[] = []

const listen = async (server: Server) => {
  closing.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

beforeEach(async () => {
  mode = 'normal'
  service = createServer((asked, answer) => {
    if (mode === 'html') return answer.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>')
    answer.setHeader('content-type', 'application/json')
    if (asked.url === '/healthz') return answer.end(JSON.stringify({ status: 'ok', version: '7.8.9' }))
    if (mode === 'unauthorized') return answer.writeHead(401).end('{}')
    answer.end(JSON.stringify({ id: 'acc_1', name: 'One' }))
  })
  gateway = await startConsole({ url: await listen(service) })
  cookie = await gateway.signIn(apiKey)
})
afterEach(async () => {
  await gateway.close()
  for (const server of closing.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A proxy in front of the console that breaks connections in one way. */
const proxied = (broken: 'buffers' | 'removes Upgrade' | 'refuses WebSockets') => {
  const to = new URL(gateway.url)
  const server = createServer((asked, answer) => {
    const { upgrade: _, connection: __, ...headers } = asked.headers
    const target = { host: to.hostname, port: to.port, method: asked.method, path: asked.url }
    const onwards = request({ ...target, headers: { ...headers, host: to.host } }, async (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers)
      if (broken !== 'buffers') return got.pipe(answer)
      answer.end(Buffer.concat(await got.toArray()))
    })
    asked.pipe(onwards)
  })
  if (broken !== 'removes Upgrade')
    server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n'))
  return listen(server)
}

/** Runs the checks as a page at `address` whose requests carry `origin`. */
const check = async (address = gateway.url, origin = gateway.origin) => {
  const results: CheckResult[] = []
  const asBrowser = { cookie, origin, 'sec-fetch-site': 'same-origin' }
  class Socket extends WebSocket {
    constructor(url: string) {
      super(url, { headers: asBrowser })
    }
  }
  await checkConnection({
    origin: address,
    fetch: (url, init) => {
      const { origin: own, ...rest } = asBrowser
      const sent = init?.method === 'POST' ? { ...rest, origin: own } : rest
      return fetch(url, { ...init, headers: sent })
    },
    headers: {},
    socketUrl: (path) => address.replace('http', 'ws') + path,
    WebSocket: Socket as unknown as CheckEnvironment['WebSocket'],
    onResult: (result) => results.push(result),
  })
  return Object.fromEntries(
    results.map(({ name, state, message, advice = '' }) => [name, `${state}: ${message} ${advice}`]),
  )
}

it('passes without a proxy', async () => {
  const results = await check()
  expect(Object.keys(results)).toEqual(['console', 'service', 'write', 'stream', 'live', 'terminal', 'clock'])
  for (const line of Object.values(results)) expect(line).toMatch(/^ok: /)
})

it.each([
  ['removes Upgrade', { live: /failed: Arrived without its Upgrade header A proxy removes it/, stream: /^ok/ }],
  ['refuses WebSockets', { live: /failed: Not connected: it did not reach the console/, write: /^ok/ }],
  ['buffers', { stream: /failed: Arrived all at once .*buffering off/, write: /^ok/ }],
] as const)('reports a proxy that %s', async (broken, expected) => {
  const results = await check(await proxied(broken))
  for (const [name, line] of Object.entries(expected)) expect(results[name]).toMatch(line)
})

it('reports an origin that the console does not recognize', async () => {
  const results = await check(gateway.url, 'https://console.example')
  expect(results.write).toMatch(/failed: Rejected: the console does not recognize .* Set DEVDECK_ORIGIN/)
})

it.each([
  ['unauthorized', /failed: .*401.* Sign in with a valid API key/],
  ['html', /^failed: .*JSON/],
] as const)('reports a service that is %s', async (kind, message) => {
  mode = kind
  const results = await check()
  expect(results.console).toMatch(/^ok/)
  expect(results.service).toMatch(message)
})

it('reports an unreachable service or console', async () => {
  service.closeAllConnections()
  service.close()
  expect((await check()).service).toMatch(/failed: .* Start the service/)
  const nobody = await listen(createServer())
  for (const server of closing.splice(-1)) server.close()
  const results = await check(nobody)
  expect(results.console).toMatch(/failed: The console can't be reached/)
  expect(results.terminal).toMatch(/^skipped/)
})

it('returns only the last characters of the key', async () => {
  const answer = await gateway.fetch('/api/connection', { cookie })
  const text = await answer.text()
  expect(JSON.parse(text)).toMatchObject({ key_tail: 'ters', upstream: { version: '7.8.9' } })
  expect(text).not.toContain('many-char')
  expect((await gateway.fetch('/api/connection')).status).toBe(401)
  expect((await gateway.fetch('/api/connection/stream')).status).toBe(401)
})
