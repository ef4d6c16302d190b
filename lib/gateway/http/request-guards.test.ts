import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendRaw } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'

let gateway: TestConsole
let port: number
beforeAll(async () => {
  gateway = await startConsole({ url: 'http://127.0.0.1:9' }, { publicOrigins: ['https://console.example.com'] })
  port = Number(new URL(gateway.url).port)
})
afterAll(() => gateway.close())

/** Sends raw lines and resolves with the whole response. */
const raw = (lines: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`))
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
const statusOf = async (lines: string[]) => Number((await raw([...lines, 'Connection: close'])).split(' ')[1])

describe('the Host check', () => {
  const askedAs = (host: string) => statusOf(['GET /api/session HTTP/1.1', `Host: ${host}`])

  it('accepts its own names and port, and the public origin', async () => {
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
      'console.example.com',
    ])
      expect(await askedAs(host), host).toBe(401)
  })

  it('rejects other names, however similar', async () => {
    const names = [
      'evil.example',
      `evil.example:${port}`,
      'localhost',
      '127.0.0.1:1',
      `localhost.evil.example:${port}`,
      `localhost.:${port}`,
      `127.0.0.1:${port}.evil.example`,
      'console.example.com:8443',
      '',
    ]
    for (const host of names) expect(await askedAs(host), host).toBe(403)
  })

  it('rejects a request with two Host headers or none', async () => {
    expect(await statusOf(['GET / HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Host: evil.example'])).toBe(400)
    expect(await statusOf(['GET / HTTP/1.1'])).toBe(400)
  })
})

describe('the path check', () => {
  it.each([
    '/api/v1/axons/../devboxes',
    '/api/v1/axons/%2e%2e/devboxes',
    '/api/v1/axons/%2E./devboxes',
    '/api/v1/axons/%2e%2e%2fdevboxes',
    '/api/v1/axons/..%5cdevboxes',
    '/api/v1/axons/a%00',
    '/api/v1/axons/a%0d%0aX:1',
    '/api/v1/axons/%ff',
    '/api/v1/axons/%2',
    'http://127.0.0.1:9/api/v1/axons',
  ])('rejects %s before it is normalized', async (path) => {
    expect(await statusOf([`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`])).toBe(400)
  })
})

describe('a URL in the path', () => {
  it.each([
    '/api/v1/http://169.254.169.254/latest',
    '/api/v1/https://evil.example/',
    '/api/v1/axons/http://evil.example//a',
    '/api/http://evil.example',
    '/http://evil.example/devboxes',
    '/devboxes/ftp://evil.example',
  ])('is not found: %s', async (path) => {
    expect(await statusOf([`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`])).toBe(404)
  })
})

describe('the router state header', () => {
  const statusWith = (...values: string[]) =>
    statusOf([
      'GET /anything HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'RSC: 1',
      ...values.map((value) => `Next-Router-State-Tree: ${value}`),
    ])
  const good = encodeURIComponent(JSON.stringify(['', { children: ['devboxes', { children: ['__PAGE__', {}] }] }]))

  it('is accepted as Next sends it', async () => {
    expect(await statusWith(good)).toBe(404)
  })

  it.each([
    ['cut short', good.slice(0, -3)],
    ['not percent-encoding', '%'],
    ['not JSON', 'x'],
    ['nothing', ''],
    ['null', 'null'],
    ['an empty list', '[]'],
    ['another shape', encodeURIComponent('{"children":[]}')],
    ['nested too deep', encodeURIComponent(`${'["",{"c":'.repeat(900)}["",{}]${'}]'.repeat(900)}`)],
    ['too long', encodeURIComponent(JSON.stringify(['x'.repeat(40_001), {}]))],
  ])('gets 400 when it is %s', async (_, value) => {
    expect(await statusWith(value)).toBe(400)
  })

  it('gets 400 when there are two', async () => {
    expect(await statusWith(good, good)).toBe(400)
  })
})

describe('every response', () => {
  it('denies sensors and devices, and sends HSTS on a public https origin', async () => {
    const answerTo = (host: string) => raw(['GET /anything HTTP/1.1', `Host: ${host}`, 'Connection: close'])
    const [plain, secure] = [await answerTo(`127.0.0.1:${port}`), await answerTo('console.example.com')]
    for (const answer of [plain, secure])
      expect(answer).toMatch(/^permissions-policy: .*camera=\(\).*microphone=\(\).*usb=\(\)/m)
    expect(plain).not.toContain('strict-transport-security')
    expect(secure).toMatch(/^strict-transport-security: max-age=31536000\r$/m)
  })

  it('forbids framing, sniffing and foreign scripts, with a new nonce each time', async () => {
    const policies = await Promise.all(
      [1, 2].map(async () => {
        const response = await gateway.fetch('/anything')
        expect(response.headers.get('x-frame-options')).toBe('DENY')
        expect(response.headers.get('x-content-type-options')).toBe('nosniff')
        expect(response.headers.get('cross-origin-opener-policy')).toBe('same-origin')
        return response.headers.get('content-security-policy') ?? ''
      }),
    )
    for (const policy of policies) {
      expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'nonce-[\w+/=]{24}' 'strict-dynamic';/)
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("worker-src 'self';")
      expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:${port};`)
      expect(policy).not.toContain('unsafe-eval')
    }
    expect(policies[0]).not.toBe(policies[1])
  })

  it('has no CORS header', async () => {
    const response = await gateway.fetch('/api/session', {
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    })
    expect(response.status).toBe(403)
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  it('rejects server action posts without blocking other requests', async () => {
    const posts = ['next-action', 'rsc', 'next-router-state-tree', 'next-router-prefetch'].flatMap((name) =>
      Array.from({ length: 50 }, () =>
        gateway.fetch('/devboxes', { method: 'POST', headers: { [name]: '1' }, body: '["x"]' }),
      ),
    )
    const meanwhile = gateway.fetch('/api/session')
    expect((await meanwhile).status).toBe(401)
    const refused = new Set((await Promise.all(posts)).map(({ status }) => status))
    expect([...refused].sort()).toEqual([404, 405])
  })

  it('reloads a page linked from another site, so that the cookie is sent', async () => {
    const led = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' }
    const ask = (path: string, headers: Record<string, string> = {}) =>
      sendRaw(gateway.url, { path, headers: { host: `127.0.0.1:${port}`, ...led, ...headers } })
    const again = await ask('/devboxes?status=running&search=%3Cb%3E')
    expect(again.status).toBe(200)
    expect(again.headers).toMatchObject({
      refresh: '0;url=/devboxes?status=running&search=%3Cb%3E',
      'cache-control': 'no-store',
    })
    expect(again.body).not.toContain('search')
    expect((await ask('/sign-in/sso/callback?code=a&state=b')).headers.refresh).toBe(
      '0;url=/sign-in/sso/callback?code=a&state=b',
    )
    expect((await ask('/\\evil.example')).headers.refresh).toBe('0;url=/')
    for (const answer of [
      await ask('/devboxes', { cookie: `devdeck_session_${port}=any` }),
      await ask('/devboxes', { 'sec-fetch-site': 'same-origin' }),
      await ask('/devboxes', { 'sec-fetch-dest': 'iframe' }),
      await ask('/sign-in/used'),
      await ask('/sign-in/sso'),
      await ask('/sign-in/sso/callback/other?code=a'),
      await ask('/api/session'),
    ])
      expect(answer.headers.refresh).toBeUndefined()
  })

  it('is a 404 to a server action', async () => {
    const response = await gateway.fetch('/', { method: 'POST', headers: { 'next-action': 'x' }, body: '[]' })
    expect(response.status).toBe(404)
  })
})

describe('WebSocket upgrades', () => {
  const upgrade = (target: string, headers: string[]) =>
    statusOf([
      `GET ${target} HTTP/1.1`,
      ...headers,
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ])
  const host = () => `Host: 127.0.0.1:${port}`
  const origin = () => `Origin: http://127.0.0.1:${port}`
  const asks = (...headers: string[]) => [...headers, 'Connection: Upgrade']

  it('are rejected without our exact origin', async () => {
    const target = '/api/terminals/dbx_1/main'
    expect(await upgrade(target, asks(host()))).toBe(403)
    for (const foreign of [
      'https://evil.example',
      `http://127.0.0.1:${port}.evil.example`,
      `http://127.0.0.1:1`,
      'null',
    ])
      expect(await upgrade(target, asks(host(), `Origin: ${foreign}`)), foreign).toBe(403)
    expect(await upgrade(target, asks(host(), origin(), 'Sec-Fetch-Site: cross-site'))).toBe(403)
    expect(await upgrade(target, asks('Host: evil.example', origin()))).toBe(403)
  })

  it('require a session', async () => {
    expect(await upgrade('/api/terminals/dbx_1/main', asks(host(), origin()))).toBe(401)
  })

  it('are accepted on one path only', async () => {
    expect(await upgrade('/', asks(host(), origin()))).toBe(404)
    expect(await upgrade('/_next/hmr', asks(host(), origin()))).toBe(404)
    expect(await upgrade('/api/terminals/dbx_1', asks(host(), origin()))).toBe(404)
    expect(await upgrade('http://127.0.0.1:9/api/terminals/dbx_1/main', asks(host(), origin()))).toBe(400)
  })
})
