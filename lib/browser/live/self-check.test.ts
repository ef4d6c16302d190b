import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import { type CheckMeans, type CheckResult, checkConnection } from './self-check.ts'

const apiKey = 'a-key-of-many-characters'
/** What the played service does with a call. */
let serve: 'ok' | 'unauthorized' | 'html' | 'bad gateway'
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
  serve = 'ok'
  service = createServer((asked, answer) => {
    if (serve === 'html') return answer.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>')
    answer.setHeader('content-type', 'application/json')
    if (asked.url === '/healthz') return answer.end(JSON.stringify({ status: 'ok', version: '7.8.9' }))
    if (serve === 'unauthorized') return answer.writeHead(401).end('{}')
    if (serve === 'bad gateway') return answer.writeHead(502).end('{}')
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

/** A proxy before the console. */
const proxied = (spoil: { buffers?: true; upgrade?: 'removed' | 'refused' }) => {
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
        if (!spoil.buffers) return got.pipe(answer)
        answer.end(Buffer.concat(await got.toArray()))
      },
    )
    asked.pipe(onwards)
  })
  if (spoil.upgrade !== 'removed')
    server.on('upgrade', (asked, socket) => {
      socket.on('error', () => undefined)
      if (spoil.upgrade === 'refused') return socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
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

/** Checks as a page at `address` would whose origin the console takes for `origin`. */
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
    WebSocket: Socket as unknown as CheckMeans['WebSocket'],
    onResult: (result) => results.push(result),
  })
  return Object.fromEntries(
    results.map(({ name, state, found, advice = '' }) => [name, `${state}: ${found} ${advice}`]),
  )
}

it('passes without a proxy', async () => {
  const found = await check()
  expect(Object.keys(found)).toEqual(['console', 'service', 'write', 'stream', 'live', 'terminal', 'clock'])
  for (const line of Object.values(found)) expect(line).toMatch(/^ok: /)
})

it('passes behind a well-configured proxy', async () => {
  for (const line of Object.values(await check(await proxied({})))) expect(line).toMatch(/^ok: /)
})

it('detects a proxy that removes the Upgrade header', async () => {
  const found = await check(await proxied({ upgrade: 'removed' }))
  expect(found.live).toMatch(/failed: Arrived without the Upgrade header A proxy removes the Upgrade header/)
  expect(found.terminal).toMatch(/failed: Arrived without the Upgrade header/)
  expect(found.stream).toMatch(/^ok/)
})

it('detects WebSockets refused before they reach the console', async () => {
  const found = await check(await proxied({ upgrade: 'refused' }))
  expect(found.live).toMatch(/failed: Not opened: it did not reach the console/)
})

it('detects a proxy that buffers responses', async () => {
  const found = await check(await proxied({ buffers: true }))
  expect(found.stream).toMatch(/failed: Arrives all at once at the end .*buffering off/)
  expect(found.live).toMatch(/^ok/)
})

it('detects an origin that is not allowed', async () => {
  const found = await check(gateway.url, 'https://console.example')
  expect(found.write).toMatch(/failed: Refused: .* is not an allowed origin Set DEVDECK_ORIGIN/)
  expect(found.live).toMatch(/failed: Refused, like writes Set DEVDECK_ORIGIN/)
})

it.each([
  ['unauthorized', /failed: The service answers the key with 401 Sign in with a valid API key/],
  ['html', /failed: What answers at .* sends no JSON/],
  ['bad gateway', /failed: The service at .* answers with 502 Start the service/],
] as const)('reports a service that responds with %s', async (how, words) => {
  serve = how
  const found = await check()
  expect(found.console).toMatch(/^ok/)
  expect(found.service).toMatch(words)
})

it('detects an unreachable service and an unreachable console', async () => {
  service.closeAllConnections()
  service.close()
  expect((await check()).service).toMatch(/failed: Cannot reach the service at .* Start the service/)
  const nobody = await listen(createServer())
  for (const server of closing.splice(-1)) server.close()
  const found = await check(nobody)
  expect(found.console).toMatch(/failed: The console is unreachable/)
  expect(found.terminal).toMatch(/^skipped/)
})

it('reveals only the last characters of the key', async () => {
  const answer = await gateway.fetch('/api/connection', { cookie })
  const text = await answer.text()
  expect(JSON.parse(text)).toMatchObject({ key_tail: 'ters', upstream: { version: '7.8.9' } })
  expect(text).not.toContain('many-char')
  expect((await gateway.fetch('/api/connection')).status).toBe(401)
  expect((await gateway.fetch('/api/connection/stream')).status).toBe(401)
})
