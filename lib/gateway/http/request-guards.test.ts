import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendRaw } from '#lib/service/testing/service.ts'
import { newSession, sessionCookie } from '../accounts/session-cookie.ts'
import { readConfig } from '../config.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { readJsonBody } from './json-body.ts'
import { listenOnOtherLoopback } from './loopback.ts'
import { clientAddress } from './request-guards.ts'

let gateway: TestConsole
let port: number
let service: Awaited<ReturnType<typeof startServer>>
// Long enough for a busy machine to send the next chunk in time.
const bodyStillMs = 2_000
beforeAll(async () => {
  // Reads the whole request before it responds.
  service = await startServer((request) => void request.resume())
  gateway = await startConsole(service, { bodyStillMs, publicOrigins: ['https://console.example.com'] })
  port = Number(new URL(gateway.url).port)
})
afterAll(async () => {
  await gateway.close()
  service.close()
})

/** Sends raw lines and resolves with everything received until the server closes. Null: leaves the head incomplete. */
const raw = (lines: string[], body: string | null = ''): Promise<string> =>
  new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(lines.join('\r\n') + (body === null ? '' : `\r\n\r\n${body}`)),
    )
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', () => undefined).on('close', () => resolve(answer))
  })
const statusOf = async (lines: string[]) => Number((await raw([...lines, 'Connection: close'])).split(' ')[1])
const host = () => `Host: 127.0.0.1:${port}`
const own = () => [host(), `Origin: http://127.0.0.1:${port}`, 'Sec-Fetch-Site: same-origin']

describe('the Host check', () => {
  const statusAs = (name: string) => statusOf(['GET /api/session HTTP/1.1', `Host: ${name}`])

  it('accepts its own names and port, and the public origin', async () => {
    for (const name of [`127.0.0.1:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, 'console.example.com'])
      expect(await statusAs(name), name).toBe(401)
  })

  it('rejects other names, however similar', async () => {
    const names = [`evil.example:${port}`, 'localhost', `localhost.evil.example:${port}`, `localhost.:${port}`]
    for (const name of [...names, `127.0.0.1:${port}.evil.example`, 'console.example.com:8443', ''])
      expect(await statusAs(name), name).toBe(403)
  })

  it('rejects a request with two Host headers or none', async () => {
    expect(await statusOf(['GET / HTTP/1.1', host(), 'Host: evil.example'])).toBe(400)
    expect(await statusOf(['GET / HTTP/1.1'])).toBe(400)
  })
})

it.each([
  [400, '/api/v1/axons/../devboxes'],
  [400, '/api/v1/axons/%2e%2e/devboxes'],
  [400, '/api/v1/axons/%2e%2e%2fdevboxes'],
  [400, '/api/v1/axons/..%5cdevboxes'],
  [400, '/api/v1/axons/a%00'],
  [400, '/api/v1/axons/a%0d%0aX:1'],
  [400, '/api/v1/axons/%ff'],
  [400, 'http://127.0.0.1:9/api/v1/axons'],
  [400, '//devboxes'],
  [400, '/devboxes//x'],
  [400, '/api//v1/axons'],
  // 20,000 parameters blocked the console for 40 s.
  [400, `/sign-in?${'a&'.repeat(500)}`],
  [400, `/api/v1/axons?${'a&'.repeat(500)}`],
  [401, `/api/v1/axons?${'a&'.repeat(499)}`],
  [404, '/api/v1/http://169.254.169.254/latest'],
  [404, '/api/v1/axons/http://evil.example//a'],
  [404, '/http://evil.example/devboxes'],
])('responds %i to the path %s', async (status, path) => {
  expect(await statusOf([`GET ${path} HTTP/1.1`, host()])).toBe(status)
})

describe('the router state header', () => {
  const statusWith = (...values: string[]) =>
    statusOf(['GET /anything HTTP/1.1', host(), 'RSC: 1', ...values.map((each) => `Next-Router-State-Tree: ${each}`)])
  const good = encodeURIComponent(JSON.stringify(['', { children: ['devboxes', { children: ['__PAGE__', {}] }] }]))

  it('is accepted as Next sends it', async () => {
    expect(await statusWith(good)).toBe(404)
  })

  it.each([
    ['cut short', good.slice(0, -3)],
    ['not percent-encoding', '%'],
    ['nothing', ''],
    ['another shape', encodeURIComponent('{"children":[]}')],
    ['nested too deep', encodeURIComponent(`${'["",{"c":'.repeat(900)}["",{}]${'}]'.repeat(900)}`)],
    ['too long', encodeURIComponent(JSON.stringify(['x'.repeat(40_001), {}]))],
    ['sent twice', good, good],
  ])('gets 400 when it is %s', async (_, ...values) => {
    expect(await statusWith(...values)).toBe(400)
  })
})

describe('every response', () => {
  it('denies sensors and devices, and sends HSTS on a public https origin', async () => {
    const answerTo = (name: string) => raw(['GET /anything HTTP/1.1', `Host: ${name}`, 'Connection: close'])
    const [plain, secure] = [await answerTo(`127.0.0.1:${port}`), await answerTo('console.example.com')]
    for (const answer of [plain, secure])
      expect(answer).toMatch(/^permissions-policy: .*camera=\(\).*microphone=\(\).*usb=\(\)/m)
    expect(plain).not.toContain('strict-transport-security')
    expect(secure).toMatch(/^strict-transport-security: max-age=31536000\r$/m)
  })

  it('forbids framing, sniffing and foreign scripts, with a new nonce each time', async () => {
    const responses = await Promise.all([gateway.fetch('/anything'), gateway.fetch('/anything')])
    for (const { headers } of responses)
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })
    const policies = responses.map(({ headers }) => headers.get('content-security-policy') ?? '')
    for (const policy of policies) {
      expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'nonce-[\w+/=]{24}' 'strict-dynamic';/)
      for (const part of ["frame-ancestors 'none'", "worker-src 'self';", `connect-src 'self' ws://127.0.0.1:${port};`])
        expect(policy).toContain(part)
      expect(policy).not.toContain('unsafe-eval')
    }
    expect(policies[0]).not.toBe(policies[1])
  })

  it('has no CORS header', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const response = await gateway.fetch('/api/session', { headers })
    expect(response.status).toBe(403)
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

it.each(['next-action', 'rsc', 'next-router-prefetch'])('rejects a server action sent with %s', async (name) => {
  const response = await gateway.fetch('/devboxes', { method: 'POST', headers: { [name]: '1' }, body: '["x"]' })
  expect(response.status).toBe(name === 'next-action' ? 404 : 405)
})

it('reloads a page linked from another site, so that the cookie is sent', async () => {
  const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' }
  const ask = async (path: string, headers: Record<string, string> = {}) =>
    sendRaw(gateway.url, { path, headers: { host: `127.0.0.1:${port}`, ...link, ...headers } })
  const again = await ask('/devboxes?status=running&search=%3Cb%3E')
  expect(again).toMatchObject({ status: 200, headers: { refresh: '0;url=/devboxes?status=running&search=%3Cb%3E' } })
  expect(again.body).not.toContain('search')
  expect((await ask('/sign-in/sso/callback?code=a')).headers.refresh).toBe('0;url=/sign-in/sso/callback?code=a')
  expect((await ask('/\\evil.example')).headers.refresh).toBe('0;url=/')
  for (const [path, headers] of [
    ['/devboxes', { cookie: `devdeck_session_${port}=any` }],
    ['/devboxes', { 'sec-fetch-site': 'same-origin' }],
    ['/devboxes', { 'sec-fetch-dest': 'iframe' }],
    ['/sign-in/used', {}],
    ['/sign-in/sso', {}],
    ['/api/session', {}],
  ] as [string, Record<string, string>][])
    expect((await ask(path, headers)).headers.refresh, path).toBeUndefined()
})

describe('WebSocket upgrades', () => {
  const target = '/api/terminals/dbx_1/main'
  const origin = () => `Origin: http://127.0.0.1:${port}`
  const upgrade = (path: string, ...headers: string[]) =>
    statusOf([
      `GET ${path} HTTP/1.1`,
      ...headers,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ])

  it('are rejected without our exact origin', async () => {
    expect(await upgrade(target, host())).toBe(403)
    for (const foreign of [
      'https://evil.example',
      `http://127.0.0.1:${port}.evil.example`,
      'http://127.0.0.1:1',
      'null',
    ])
      expect(await upgrade(target, host(), `Origin: ${foreign}`), foreign).toBe(403)
    expect(await upgrade(target, host(), origin(), 'Sec-Fetch-Site: cross-site')).toBe(403)
    expect(await upgrade(target, 'Host: evil.example', origin())).toBe(403)
  })

  it.each([
    [401, target],
    [404, '/'],
    [404, '/_next/hmr'],
    [404, '/api/terminals/dbx_1'],
    [400, `http://127.0.0.1:9${target}`],
  ])('get %i without a session at %s', async (status, path) => {
    expect(await upgrade(path, host(), origin())).toBe(status)
  })
})

describe('a body', () => {
  it('gets 408 on every route when it stalls', async () => {
    const session = newSession({ id: 'test', name: 'test' }, 'ak_test')
    const cookie = (await sessionCookie(() => null, session)).split(';')[0]
    const answers = ['/api/session', '/api/v1/axons', '/api/v1/benchmark_jobs'].map((path) => {
      const headers = [`Cookie: ${cookie}`, 'Content-Type: application/json', 'Content-Length: 100']
      return raw([`POST ${path} HTTP/1.1`, ...own(), ...headers], '{"a"')
    })
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"timeout"/)
  })

  it('that breaks off gets 400', async () => {
    const broken = new ReadableStream({ pull: (body) => body.error(new Error('aborted')) })
    const request = new Request(gateway.url, { method: 'POST', body: broken, duplex: 'half' } as RequestInit)
    await expect(readJsonBody(request)).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('that makes progress is accepted', async () => {
    const socket = connect(port, '127.0.0.1')
    const headers = ['Content-Type: application/json', `Content-Length: ${8 * 2048}`]
    socket.write(`${['POST /api/session HTTP/1.1', ...own(), ...headers].join('\r\n')}\r\n\r\n`)
    let sent = 0
    const sending = setInterval(() => sent++ < 8 && socket.write('x'.repeat(2048)), bodyStillMs / 5)
    const [answer] = await once(socket, 'data')
    clearInterval(sending)
    socket.destroy()
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 [\s\S]*not valid JSON/)
  })

  it('that is a form is rejected unread where forms are not accepted', async () => {
    const headers = ['Content-Type: multipart/form-data; boundary=x', 'Content-Length: 1000000']
    expect(await raw(['POST /api/session HTTP/1.1', ...own(), ...headers], '--x')).toMatch(/^HTTP\/1\.1 415 /)
  })
})

it('ends many incomplete requests without blocking others', async () => {
  const halves = Array.from({ length: 200 }, () => raw(['GET / HTTP/1.1', host(), 'X-Half:'], null))
  expect((await gateway.fetch('/api/session')).status).toBe(401)
  for (const answer of await Promise.all(halves)) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
})

it.each([
  ...['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'].map((method) => [method, '/devboxes', 'GET, HEAD']),
  ['DELETE', '/api/v1/axons', 'GET, POST'],
  ['QUERY', '/api/v1/axons', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
])('responds 405 to %s %s with the allowed methods', async (method, path, allow) => {
  const answer = await gateway.fetch(path, { method })
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
})

describe('cookies of another server on this host', () => {
  const name = () => `devdeck_session_${port}`

  it('that duplicate the session are cleared, whatever their path', async () => {
    const cookie = `${name()}=mine; ${name()}=planted`
    const page = await gateway.fetch('/devboxes/dbx_1', { headers: { cookie } })
    expect([page.status, page.headers.get('clear-site-data')]).toEqual([400, '"cookies"'])
    for (const path of ['/', '/devboxes', '/devboxes/', '/devboxes/dbx_1'])
      expect(page.headers.getSetCookie()).toContain(`${name()}=; Path=${path}; Max-Age=0`)
    expect(await page.text()).toContain('role="alert"')
    const call = await gateway.fetch('/api/session', { headers: { cookie } })
    expect([call.status, call.headers.get('clear-site-data')]).toEqual([400, '"cookies"'])
  })

  // 3,000 cookies blocked the console for 8 s.
  it.each([
    [401, 10, 4_000],
    [401, 180, 1],
    [400, 201, 1],
  ])('get %i for %i of %i characters', async (status, count, length) => {
    const cookie = Array.from({ length: count }, (_, i) => `bomb${i}=${'x'.repeat(length)}`).join('; ')
    const answer = await gateway.fetch('/api/session', { headers: { cookie } })
    expect([answer.status, answer.headers.get('clear-site-data')]).toEqual([
      status,
      status === 400 ? '"cookies"' : null,
    ])
  })

  it('are cleared when they are too long, unlike by a link with a long URL', async () => {
    const cookie = Array.from({ length: 180 }, (_, i) => `bomb${i}=${'x'.repeat(4000)}`).join('; ')
    const answer = await raw(['GET / HTTP/1.1', host(), `Cookie: ${cookie}`])
    expect(answer).toMatch(/^HTTP\/1\.1 431 [\s\S]*clear-site-data: "cookies"[\s\S]*<h1>/)
    const link = await raw([`GET /?${'a'.repeat(60_000)} HTTP/1.1`, host(), 'Cookie: a=b; c=d'])
    expect(link).toMatch(/^HTTP\/1\.1 431 /)
    expect(link).not.toContain('clear-site-data')
  })
})

describe('the address of a client', () => {
  it.each([
    ['', '10.0.0.1', '1.2.3.4', '10.0.0.1'],
    ['1', '10.0.0.1', '6.6.6.6, 1.2.3.4', '1.2.3.4'],
    ['2', '10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['10.0.0.0/8', '::ffff:10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['10.0.0.0/8,::1', '::1', '1.2.3.4', '1.2.3.4'],
    ['10.0.0.0/8', '192.168.0.1', '1.2.3.4', '192.168.0.1'],
    ['1', '10.0.0.1', 'not an address', '10.0.0.1'],
    ['1', '10.0.0.1', undefined, '10.0.0.1'],
  ])('with TRUST_PROXY=%s, from %s for %s, is %s', (trust, remoteAddress, forwarded, address) => {
    const secret = randomBytes(24).toString('base64')
    const environment = { TRUST_PROXY: trust, DEVDECK_SESSION_SECRET: secret, DEVDECK_SERVICE_URL: 'http://service' }
    gateway.registry.config.isTrustedProxy = readConfig(environment).isTrustedProxy
    const request = { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }
    expect(clientAddress(request as never)).toBe(address)
  })

  it('rejects an invalid TRUST_PROXY', () => {
    for (const trust of ['yes', '10.0.0.0/33', '1,2', '10.0.0.1/8/8'])
      expect(() => readConfig({ TRUST_PROXY: trust }), trust).toThrow(/TRUST_PROXY must be/)
  })
})

it('listens on the other loopback address, and fails if it is taken', async () => {
  const server: Server = createServer((socket) => socket.end('ours')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: taken } = server.address() as { port: number }
  const other = await listenOnOtherLoopback(server, '127.0.0.1', taken)
  if (other) {
    const [text] = await once(connect(taken, '::1'), 'data')
    expect(String(text)).toBe('ours')
    await expect(listenOnOtherLoopback(server, '127.0.0.1', taken)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    other.close()
  }
  server.close()
})
