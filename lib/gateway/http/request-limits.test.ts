import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createService } from 'node:http'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newSession, sessionCookie } from '../accounts/session-cookie.ts'
import { readConfig } from '../config.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { clientAddress } from './client-address.ts'
import { readJsonBody } from './json-body.ts'
import { listenOnOtherLoopback } from './loopback.ts'

let gateway: TestConsole
let port: number
// Long enough for a busy machine to send the next chunk in time.
const bodyStillMs = 2_000
/** Reads the whole request before it responds. */
const service = createService((request) => void request.resume())
beforeAll(async () => {
  await once(service.listen(0, '127.0.0.1'), 'listening')
  gateway = await startConsole({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}` }, { bodyStillMs })
  port = Number(new URL(gateway.url).port)
})
afterAll(async () => {
  await gateway.close()
  service.closeAllConnections()
  service.close()
})

/** Sends raw text and resolves with everything received until the server closes. */
const raw = (text: string): Promise<string> =>
  new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', () => undefined).on('close', () => resolve(answer))
  })
const host = () => `Host: 127.0.0.1:${port}\r\n`
const own = () => `${host()}Origin: http://127.0.0.1:${port}\r\nSec-Fetch-Site: same-origin\r\n`

describe('a body', () => {
  it('gets 408 on every route when it stalls', async () => {
    const cookie = (await sessionCookie(() => null, newSession({ id: 'test', name: 'test' }, 'ak_test'))).split(';')[0]
    const paths = ['/api/session', '/api/v1/axons', '/api/v1/benchmark_jobs']
    const answers = paths.map((path) => {
      const head = `POST ${path} HTTP/1.1\r\n${own()}Cookie: ${cookie}\r\nContent-Type: application/json\r\n`
      return raw(`${head}Content-Length: 100\r\n\r\n{"a"`)
    })
    for (const [at, answer] of (await Promise.all(answers)).entries())
      expect(answer, paths[at]).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"timeout"/)
  })

  it('that breaks off gets 400', async () => {
    const broken = new ReadableStream({ pull: (body) => body.error(new Error('aborted')) })
    const request = new Request(gateway.url, { method: 'POST', body: broken, duplex: 'half' } as RequestInit)
    await expect(readJsonBody(request)).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('that makes progress is accepted', async () => {
    const piece = 'x'.repeat(2048)
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST /api/session HTTP/1.1\r\n${own()}Content-Type: application/json\r\nContent-Length: ${8 * 2048}\r\n\r\n`,
    )
    let sent = 0
    const sending = setInterval(() => sent++ < 8 && socket.write(piece), bodyStillMs / 5)
    const [answer] = await once(socket, 'data')
    clearInterval(sending)
    socket.destroy()
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 [\s\S]*not valid JSON/)
  })

  it('that is a form is rejected unread where forms are not accepted', async () => {
    const answer = await raw(
      `POST /api/session HTTP/1.1\r\n${own()}Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n--x`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 415 /)
  })
})

it('ends many incomplete requests without blocking others', async () => {
  const halves = Array.from({ length: 200 }, () => raw(`GET / HTTP/1.1\r\n${host()}X-Half:`))
  expect((await gateway.fetch('/api/session')).status).toBe(401)
  for (const answer of await Promise.all(halves)) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
})

describe('a page', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'responds 405 to %s with the allowed methods',
    async (method) => {
      const answer = await gateway.fetch('/devboxes', { method })
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
    },
  )

  it.each(['//devboxes', '/devboxes//x', '/api//v1/axons', '//'])('400 at %s', async (path) => {
    expect(await raw(`GET ${path} HTTP/1.1\r\n${host()}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /)
  })
})

// 20,000 parameters blocked the console for 40 s.
it.each(['/sign-in', '/api/v1/axons'])('responds 400 to too many parameters at %s', async (path) => {
  expect((await gateway.fetch(`${path}?${'a&'.repeat(500)}`)).status).toBe(400)
  expect((await gateway.fetch(`${path}?${'a&'.repeat(499)}`)).status).not.toBe(400)
})

it('responds 405 with the allowed methods of an operation', async () => {
  const answer = await gateway.fetch('/api/v1/axons', { method: 'DELETE' })
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST'])
  for (const method of ['TRACE', 'QUERY'])
    expect(await raw(`${method} /api/v1/axons HTTP/1.1\r\n${host()}\r\n`)).toMatch(/^HTTP\/1\.1 405 /)
})

describe('cookies of another server on this host', () => {
  const name = () => `devdeck_session_${port}`

  it('that duplicate the session are cleared, whatever their path', async () => {
    const cookie = `${name()}=mine; ${name()}=planted`
    const page = await gateway.fetch('/devboxes/dbx_1', { headers: { cookie } })
    expect(page.status).toBe(400)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('clear-site-data')).toBe('"cookies"')
    const cleared = page.headers.getSetCookie()
    for (const path of ['/', '/devboxes', '/devboxes/', '/devboxes/dbx_1'])
      expect(cleared).toContain(`${name()}=; Path=${path}; Max-Age=0`)
    expect(await page.text()).toContain('role="alert"')
    const call = await gateway.fetch('/api/session', { headers: { cookie } })
    expect([call.status, call.headers.get('clear-site-data')]).toEqual([400, '"cookies"'])
  })

  it('do not block the console when there are many', async () => {
    for (const cookies of [
      Array.from({ length: 10 }, (_, i) => `bomb${i}=${'x'.repeat(4000)}`),
      Array.from({ length: 180 }, (_, i) => `bomb${i}=x`),
    ])
      expect((await gateway.fetch('/api/session', { headers: { cookie: cookies.join('; ') } })).status).toBe(401)
  })

  // 3,000 cookies blocked the console for 8 s.
  it('are cleared when there are too many', async () => {
    for (const between of ['; ', ';']) {
      const cookie = Array.from({ length: 201 }, (_, i) => `a${i}=b`).join(between)
      const page = await gateway.fetch('/devboxes', { headers: { cookie } })
      expect([page.status, page.headers.get('clear-site-data')]).toEqual([400, '"cookies"'])
    }
  })

  it('are cleared when they are too long', async () => {
    const cookie = Array.from({ length: 180 }, (_, i) => `bomb${i}=${'x'.repeat(4000)}`).join('; ')
    const answer = await raw(`GET / HTTP/1.1\r\n${host()}Cookie: ${cookie}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(answer).toContain('clear-site-data: "cookies"')
    expect(answer).toContain('<h1>')
  })

  it('are not cleared by a link with a long URL', async () => {
    const answer = await raw(`GET /?${'a'.repeat(60_000)} HTTP/1.1\r\n${host()}Cookie: a=b; c=d\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(answer).not.toContain('clear-site-data')
  })
})

describe('the address of a client', () => {
  const addressBy = (trust: string, remoteAddress: string, forwarded?: string) => {
    const secret = randomBytes(24).toString('base64')
    const environment = { TRUST_PROXY: trust, DEVDECK_SESSION_SECRET: secret, DEVDECK_SERVICE_URL: 'http://service' }
    gateway.registry.config.isTrustedProxy = readConfig(environment).isTrustedProxy
    return clientAddress({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as never)
  }
  it.each([
    ['', '10.0.0.1', '1.2.3.4', '10.0.0.1'],
    ['1', '10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['1', '10.0.0.1', '6.6.6.6, 1.2.3.4', '1.2.3.4'],
    ['2', '10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['10.0.0.0/8', '::ffff:10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['10.0.0.0/8,::1', '::1', '1.2.3.4', '1.2.3.4'],
    ['10.0.0.0/8', '192.168.0.1', '1.2.3.4', '192.168.0.1'],
    ['1', '10.0.0.1', 'not an address', '10.0.0.1'],
    ['1', '10.0.0.1', undefined, '10.0.0.1'],
  ])('with TRUST_PROXY=%s, from %s for %s, is %s', (trust, remote, forwarded, address) => {
    expect(addressBy(trust, remote, forwarded)).toBe(address)
  })

  it('rejects an invalid TRUST_PROXY', () => {
    for (const trust of ['yes', '10.0.0.0/33', '1,2', '10.0.0.1/8/8'])
      expect(() => readConfig({ TRUST_PROXY: trust }), trust).toThrow(/TRUST_PROXY must be/)
  })
})

describe('the other loopback address', () => {
  it('is listened on, and the start fails if it is taken', async () => {
    const seen: Server = createServer((socket) => socket.end('ours'))
    seen.listen(0, '127.0.0.1')
    await once(seen, 'listening')
    const { port: taken } = seen.address() as { port: number }
    const beside = await listenOnOtherLoopback(seen, '127.0.0.1', taken)
    if (beside) {
      const [said] = await once(connect(taken, '::1'), 'data')
      expect(String(said)).toBe('ours')
      await expect(listenOnOtherLoopback(seen, '127.0.0.1', taken)).rejects.toMatchObject({ code: 'EADDRINUSE' })
      beside.close()
    }
    seen.close()
  })
})
