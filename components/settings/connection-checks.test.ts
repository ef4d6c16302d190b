import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import { type CheckEnvironment, type CheckResult, checkConnection } from './connection-checks.ts'

const apiKey = 'a-key-of-many-characters'
let mode: 'normal' | 'unauthorized' | 'html' | 'failing'
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
    if (mode === 'failing') return answer.writeHead(502).end('{}')
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

/** Starts a proxy in front of the console, optionally a broken one. */
const proxied = (broken: { buffers?: true; upgrade?: 'removed' | 'refused' }) => {
  const to = new URL(gateway.url)
  const server = createServer((asked, answer) => {
    const { upgrade: _, connection: __, ...headers } = asked.headers
    const onwards = request(
      {
        host: to.hostname,
        port: to.port,
        method: asked.method,
        path: asked.url,
        headers: { ...headers, host: to.host },
      },
      async (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers)
        if (!broken.buffers) return got.pipe(answer)
        answer.end(Buffer.concat(await got.toArray()))
      },
    )
    asked.pipe(onwards)
  })
  if (broken.upgrade !== 'removed')
    server.on('upgrade', (asked, socket) => {
      socket.on('error', () => undefined)
      if (broken.upgrade === 'refused') return socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
      const onwards = connect(Number(to.port), to.hostname)
      onwards.on('error', () => undefined)
      const { host: _, ...headers } = asked.headers
      const lines = Object.entries({ ...headers, host: to.host }).map(([name, value]) => `${name}: ${value}`)
      onwards.write(`GET ${asked.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      socket.pipe(onwards).pipe(socket)
      socket.once('close', () => onwards.destroy())
    })
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

it('passes behind a correct proxy', async () => {
  for (const line of Object.values(await check(await proxied({})))) expect(line).toMatch(/^ok: /)
})

it('reports a proxy that removes the Upgrade header', async () => {
  const results = await check(await proxied({ upgrade: 'removed' }))
  expect(results.live).toMatch(/failed: Arrived without its Upgrade header A proxy removes it/)
  expect(results.terminal).toMatch(/failed: Arrived without its Upgrade/)
  expect(results.stream).toMatch(/^ok/)
})

it('reports WebSockets that a proxy rejects', async () => {
  const results = await check(await proxied({ upgrade: 'refused' }))
  expect(results.live).toMatch(/failed: Not connected: it did not reach the console/)
})

it('reports a proxy that buffers responses', async () => {
  const results = await check(await proxied({ buffers: true }))
  expect(results.stream).toMatch(/failed: Arrived all at once .*buffering off/)
  expect(results.live).toMatch(/^ok/)
})

it('reports an origin that the console does not recognize', async () => {
  const results = await check(gateway.url, 'https://console.example')
  expect(results.write).toMatch(/failed: Rejected: the console does not recognize .* Set DEVDECK_ORIGIN/)
  expect(results.live).toMatch(/failed: Rejected, like writes Set DEVDECK_ORIGIN/)
})

it.each([
  ['unauthorized', /failed: .*401.* Sign in with a valid API key/],
  ['html', /^failed: .*JSON/],
  ['failing', /failed: .*502.* Start the service/],
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
  expect(results.console).toMatch(/failed: The console can’t be reached/)
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
