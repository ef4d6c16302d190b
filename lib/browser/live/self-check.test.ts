import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import { type CheckMeans, type CheckResult, checkConnection } from './self-check.ts'

const apiKey = 'a-key-of-many-characters'
/** What the played service does with a call. */
let serve: 'well' | 'refusing' | 'as a web page' | 'failing'
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
  serve = 'well'
  service = createServer((asked, answer) => {
    if (serve === 'as a web page') return answer.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>')
    answer.setHeader('content-type', 'application/json')
    if (asked.url === '/healthz') return answer.end(JSON.stringify({ status: 'ok', version: '7.8.9' }))
    if (serve === 'refusing') return answer.writeHead(401).end('{}')
    if (serve === 'failing') return answer.writeHead(502).end('{}')
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
const proxied = (spoil: { buffers?: true; upgrade?: 'taken out' | 'refused' }) => {
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
  if (spoil.upgrade !== 'taken out')
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

it('passes where nothing is in the way', async () => {
  const found = await check()
  expect(Object.keys(found)).toEqual(['console', 'service', 'write', 'stream', 'live', 'terminal', 'clock'])
  for (const line of Object.values(found)) expect(line).toMatch(/^ok: /)
})

it('passes behind a proxy that does all it should', async () => {
  for (const line of Object.values(await check(await proxied({})))) expect(line).toMatch(/^ok: /)
})

it('names a proxy that takes Upgrade out', async () => {
  const found = await check(await proxied({ upgrade: 'taken out' }))
  expect(found.live).toMatch(/failed: Arrived without its Upgrade A proxy takes Upgrade out/)
  expect(found.terminal).toMatch(/failed: Arrived without its Upgrade/)
  expect(found.stream).toMatch(/^ok/)
})

it('says of WebSockets that something refuses before the console that they did not arrive', async () => {
  const found = await check(await proxied({ upgrade: 'refused' }))
  expect(found.live).toMatch(/failed: Not opened; it has not arrived/)
})

it('names a proxy that collects answers', async () => {
  const found = await check(await proxied({ buffers: true }))
  expect(found.stream).toMatch(/failed: Comes all at once at its end .*buffering off/)
  expect(found.live).toMatch(/^ok/)
})

it('names an address that the console does not know as its own', async () => {
  const found = await check(gateway.url, 'https://console.example')
  expect(found.write).toMatch(/failed: Refused: the console does not know .* Set DEVDECK_ORIGIN/)
  expect(found.live).toMatch(/failed: Refused, as writes are Set DEVDECK_ORIGIN/)
})

it.each([
  ['refusing', /failed: The service answers the key with 401 Sign in with a key/],
  ['as a web page', /failed: What answers at .* sends no JSON/],
  ['failing', /failed: The service at .* answers with 502 Start the service/],
] as const)('names a service that is %s', async (how, words) => {
  serve = how
  const found = await check()
  expect(found.console).toMatch(/^ok/)
  expect(found.service).toMatch(words)
})

it('names a service that is away, and a console that is', async () => {
  service.closeAllConnections()
  service.close()
  expect((await check()).service).toMatch(/failed: The service at .* cannot be reached Start the service/)
  const nobody = await listen(createServer())
  for (const server of closing.splice(-1)) server.close()
  const found = await check(nobody)
  expect(found.console).toMatch(/failed: The console cannot be reached/)
  expect(found.terminal).toMatch(/^skipped/)
})

it('tells the end of the key and nothing else of it', async () => {
  const answer = await gateway.fetch('/api/connection', { cookie })
  const text = await answer.text()
  expect(JSON.parse(text)).toMatchObject({ key_tail: 'ters', upstream: { version: '7.8.9' } })
  expect(text).not.toContain('many-char')
  expect((await gateway.fetch('/api/connection')).status).toBe(401)
  expect((await gateway.fetch('/api/connection/stream')).status).toBe(401)
})
