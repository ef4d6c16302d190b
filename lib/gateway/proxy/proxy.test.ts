import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { endpoints } from '#lib/contract/index.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'

const apiKey = 'ak_secret_of_the_recorder'

interface Recorded {
  method: string
  url: string
  headers: IncomingMessage['headers']
  rawHeaders: string[]
  body: string
}

/** A fake service that records requests. */
let recorder: Awaited<ReturnType<typeof startServer>>
let recorded: Recorded[]
/** When the service begins to read what it is sent. */
let reads: Promise<void>
let reply: (request: IncomingMessage, response: ServerResponse) => void
let gateway: TestConsole
let cookie: string

beforeAll(async () => {
  recorder = await startServer(async (request, response) => {
    if (request.url === '/v1/accounts/me') return json(response, { id: 'acc', name: 'Recorded' })
    await reads
    let body = ''
    for await (const chunk of request) body += chunk
    recorded.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body,
    })
    reply(request, response)
  })
  gateway = await startConsole(recorder)
  cookie = await gateway.signIn(apiKey)
})
afterAll(async () => {
  await gateway.close()
  recorder.close()
})
beforeEach(() => {
  recorded = []
  reads = Promise.resolve()
  reply = (_, response) => json(response, { axons: [], has_more: false })
})

const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const ask = (path: string, init: Parameters<TestConsole['fetch']>[1] = {}) => gateway.fetch(path, { cookie, ...init })
const post = (path: string, body = '{}', headers: Record<string, string> = {}) =>
  ask(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })

describe('forwarded requests', () => {
  it('is a list with its raw query', async () => {
    const response = await ask('/api/v1/axons?metadata%5Benv%5D[in]=a%2Cb,c&limit=5&name=')
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ axons: [], has_more: false })
    expect(recorded.map(({ url }) => url)).toEqual(['/v1/axons?metadata%5Benv%5D[in]=a%2Cb,c&limit=5&name='])
  })

  it('is a body, byte for byte, and a metadata key with a slash', async () => {
    const body = '{ "name": "ä",\n "metadata": {} }'
    await post('/api/v1/axons', body)
    await ask('/api/v1/benchmarks/metadata/keys/team%2Fname%20x/values')
    expect(recorded).toMatchObject([
      { method: 'POST', url: '/v1/axons', body },
      { url: '/v1/benchmarks/metadata/keys/team%2Fname%20x/values' },
    ])
  })

  it('is every operation under /v1 that returns no credentials', async () => {
    const open = endpoints.filter(({ path, returnsCredential }) => path.startsWith('/v1/') && !returnsCredential)
    expect(open.length).toBeGreaterThan(20)
    reply = (_, response) => response.writeHead(404).end()
    for (const { method, path } of open) {
      const before = recorded.length
      await ask(`/api${path.replace(/:\w+/g, 'some_id')}`, { method })
      // The recorder has its own route for the account, which records nothing.
      if (path !== '/v1/accounts/me') expect(recorded.length, `${method} ${path}`).toBe(before + 1)
    }
  })
})

describe('blocked requests', () => {
  it.each([
    ['an operation the contract does not have', 'GET', '/api/v1/admin', 404],
    ['a path below an operation', 'GET', '/api/v1/axons/a/b', 404],
    ['a method that is not in the contract', 'PUT', '/api/v1/axons', 405],
    ['an id of forbidden characters', 'GET', '/api/v1/axons/a%20b', 400],
    ['a doubly encoded traversal', 'GET', '/api/v1/axons/%252e%252e%252fx', 400],
    ['an id with an encoded slash', 'GET', '/api/v1/axons/a%2fb', 400],
    ['an id of 300 characters', 'GET', `/api/v1/axons/${'a'.repeat(300)}`, 400],
    ['a metadata key with a control character', 'GET', '/api/v1/benchmarks/metadata/keys/a%01/values', 400],
    ['a query of 9000 characters', 'GET', `/api/v1/axons?name=${'a'.repeat(9000)}`, 400],
    ['the token of a terminal', 'POST', '/api/v1/devboxes/dbx_1/create_pty_tunnel', 403],
    ['an operator-only endpoint', 'POST', '/api/local/evictions', 404],
  ])('is %s', async (_, method, path, status) => {
    const response = await ask(path, { method })
    expect(response.status).toBe(status)
    expect(recorded).toEqual([])
  })

  it.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another port of this host', { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-site' }],
    ['a typed address', { origin: '', 'sec-fetch-site': 'none' }],
    ['an opaque origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
    ['a lookalike', { origin: 'http://127.0.0.1:3000.evil.example', 'sec-fetch-site': '' }],
  ])('is a write from %s', async (_, headers) => {
    const sent = new Headers(Object.entries(headers).filter(([, value]) => value !== ''))
    const response = await fetch(`${gateway.url}/api/v1/axons`, {
      method: 'POST',
      headers: { cookie, ...Object.fromEntries(sent) },
    })
    expect(response.status).toBe(403)
    expect(recorded).toEqual([])
  })

  it('is a write without Origin and Sec-Fetch-Site; our Origin alone is enough', async () => {
    const write = (headers: Record<string, string>) =>
      fetch(`${gateway.url}/api/v1/axons`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', ...headers },
        body: '{}',
      })
    expect((await gateway.fetch('/api/v1/axons')).status).toBe(401)
    expect((await write({})).status).toBe(403)
    expect(recorded).toEqual([])
    expect((await write({ origin: gateway.origin })).status).toBe(200)
  })

  it('is a read from another site, unlike a typed address', async () => {
    expect((await ask('/api/v1/axons', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
    expect((await ask('/api/v1/axons', { headers: { 'sec-fetch-site': 'same-site' } })).status).toBe(403)
    expect(recorded).toEqual([])
    expect((await ask('/api/v1/axons', { headers: { 'sec-fetch-site': 'none' } })).status).toBe(200)
  })

  it('is a body that is not JSON, is compressed or exceeds 1 MiB', async () => {
    expect((await post('/api/v1/axons', '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post('/api/v1/axons', '{}', { 'content-encoding': 'gzip' })).status).toBe(415)
    expect((await post('/api/v1/axons', ' '.repeat(1024 * 1024 + 1))).status).toBe(413)
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })
    const response = await ask('/api/v1/axons', {
      method: 'POST',
      body: endless,
      duplex: 'half',
      headers: { 'content-type': 'application/json' },
    } as RequestInit)
    expect(response.status).toBe(413)
    expect(recorded).toEqual([])
  })
})

describe('headers', () => {
  it('to the service are a short list with one key', async () => {
    await ask('/api/v1/axons', {
      headers: {
        authorization: 'Bearer of-the-page',
        referer: gateway.url,
        'x-forwarded-for': '1.2.3.4',
        'x-request-id': 'page-1',
        'x-api-key': 'x',
        range: 'bytes=0-1',
      },
    })
    const [{ headers, rawHeaders } = { headers: {}, rawHeaders: [] as string[] }] = recorded
    expect(rawHeaders.filter((name) => name.toLowerCase() === 'authorization')).toHaveLength(1)
    expect(headers).toMatchObject({ authorization: `Bearer ${apiKey}`, 'x-request-id': 'page-1' })
    expect(Object.keys(headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'host',
      'user-agent',
      'x-request-id',
    ])
  })

  it('replace an invalid request id', async () => {
    await ask('/api/v1/axons', { headers: { 'x-request-id': 'a b"c' } })
    expect(recorded[0]?.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('to the browser are a short list', async () => {
    reply = (_, response) =>
      json(
        response,
        {},
        {
          'set-cookie': 'a=b',
          'access-control-allow-origin': '*',
          'content-security-policy': "default-src 'unsafe-inline'",
          'strict-transport-security': 'max-age=1',
          location: 'https://evil.example',
          server: 'x',
          'cache-control': 'public, max-age=99',
          'retry-after': '3',
          'x-request-id': 'up-1',
        },
      )
    const response = await ask('/api/v1/axons')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'retry-after': '3',
      'x-request-id': 'up-1',
      'content-type': 'application/json',
    })
    for (const name of ['set-cookie', 'access-control-allow-origin', 'strict-transport-security', 'location', 'server'])
      expect(response.headers.get(name), name).toBeNull()
    expect(response.headers.get('content-security-policy')).not.toContain('unsafe-inline')
  })
})

describe('a response that cannot be from the service', () => {
  it('is a redirect, which is not followed with the key', async () => {
    let followed = 0
    const other = await startServer((_, response) => {
      followed += 1
      response.end()
    })
    reply = (_, response) => response.writeHead(302, { location: other.url }).end()
    const response = await ask('/api/v1/axons')
    other.close()
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ code: 'bad_upstream' })
    expect(followed).toBe(0)
  })

  it.each([200, 404, 500])('is a web page with status %i', async (status) => {
    reply = (_, response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<script>alert(1)</script>')
    const response = await ask('/api/v1/axons')
    expect(response.status).toBe(502)
    expect(response.headers.get('content-type')).toBe('application/json')
    const text = await response.text()
    expect(text).toContain('is not the service')
    expect(text).not.toContain('<script>')
  })

  it('is missing when the service is down', async () => {
    const leaving = await startServer((_, response) => json(response, { id: 'acc', name: 'Leaving' }))
    const alone = await startConsole(leaving)
    const own = await alone.signIn(apiKey)
    leaving.close()
    const { status, body } = await alone.ask(own, 'GET', '/api/v1/axons')
    await alone.close()
    expect(status).toBe(503)
    expect(body).toMatchObject({ code: 'unavailable', message: `Cannot reach the service at ${leaving.url}` })
  })
})

describe('a compressed response', () => {
  const packed = (response: ServerResponse, body: unknown, status = 200) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .end(gzipSync(JSON.stringify(body)))

  it('is requested and passed through if the browser accepts it', async () => {
    reply = (_, response) => packed(response, { axons: [], has_more: false })
    const response = await ask('/api/v1/axons', { headers: { 'accept-encoding': 'gzip, deflate, br' } })
    expect(recorded[0]?.headers['accept-encoding']).toBe('gzip')
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(await response.json()).toEqual({ axons: [], has_more: false })
    await ask('/api/v1/axons', { headers: { 'accept-encoding': 'br, gzip;q=0' } })
    expect(recorded[1]?.headers['accept-encoding']).toBe('identity')
  })

  it('is decompressed when it is an error', async () => {
    reply = (_, response) => packed(response, { code: 'conflict', message: 'It is suspended' }, 409)
    expect(await (await ask('/api/v1/axons')).json()).toMatchObject({ code: 'conflict', message: 'It is suspended' })
  })

  it('is an error without a message when its body is too long or broken', async () => {
    const long = { code: 'conflict', message: 'x'.repeat(64 * 1024) }
    const replies: (typeof reply)[] = [
      (_, response) => packed(response, long, 409),
      (_, response) => response.writeHead(409, { 'content-type': 'application/json' }).end(JSON.stringify(long)),
      (_, response) =>
        response.writeHead(409, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('not packed'),
    ]
    for (const each of replies) {
      reply = each
      const response = await ask('/api/v1/axons')
      expect(response.status).toBe(409)
      expect(await response.json()).toMatchObject({
        code: 'conflict',
        message: 'The service returned 409 without an error message',
      })
    }
  })
})

describe('errors of the service', () => {
  it('include a timeout, with Retry-After', async () => {
    // undici measures long timeouts with its own coarse clock, starting at its next tick.
    const clock = createRequire(import.meta.url)('undici/lib/util/timers.js') as { tick(ms: number): void }
    reply = () => {
      clock.tick(1_000)
      clock.tick(16_000)
    }
    const response = await ask('/api/v1/axons')
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '3'])
    expect(await response.json()).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('did not respond within 15 s'),
    })
  })

  it('pass unchanged, with Retry-After', async () => {
    const body = { code: 'conflict', message: 'It is suspended', request_id: 'up-2' }
    reply = (_, response) => json(response, body, { 'x-should-retry': 'false' }, 409)
    const response = await post('/api/v1/devboxes/dbx_1/suspend')
    expect(response.status).toBe(409)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await response.json()).toEqual(body)
  })

  it.each([
    [500, 'text/plain', 'boom', 'internal', 'The service returned 500: boom'],
    [500, 'application/json', '{"error":{"message":"No disk"}}', 'internal', 'The service returned 500: No disk'],
    [400, 'application/json', '{"detail":"Bad name"}', 'invalid_argument', 'The service returned 400: Bad name'],
    [429, 'application/json', '{"message":"The quota is used up"}', 'rate_limited', 'The quota is used up'],
  ])('are converted to our error format: %i %s', async (status, type, text, code, message) => {
    reply = (_, response) => response.writeHead(status, { 'content-type': type }).end(text)
    expect(await (await ask('/api/v1/axons')).json()).toEqual({ code, message, request_id: expect.any(String) })
  })

  it('are 401 when the key is no longer accepted', async () => {
    reply = (_, response) => json(response, { code: 'key_gone', message: 'No such key', request_id: 'r' }, {}, 401)
    const response = await ask('/api/v1/axons')
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ code: 'unauthenticated' })
  })
})

/** Waits until a count is above 0 and stays the same over many turns of the event loop. */
const untilStill = async (count: () => number) => {
  for (let before = -1; before !== count() || before === 0; ) {
    before = count()
    for (let turns = 0; turns < 500; turns++) await setImmediate()
  }
}

describe('streams', () => {
  const curl = (path: string, ...flags: string[]) => {
    const child = spawn(
      'curl',
      [
        ...['--silent', '--show-error', '--request', 'POST', ...flags],
        ...['--header', `cookie: ${cookie}`, '--header', `origin: ${gateway.origin}`],
        ...['--header', 'content-type: application/json', '--data', '{}', gateway.url + path],
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    )
    let bytes = 0
    child.stdout.on('data', (data: Buffer) => (bytes += data.length))
    return { child, received: () => bytes, exitCode: once(child, 'close').then(([code]: (number | null)[]) => code) }
  }
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const logs = '/api/v1/benchmark_runs/bmr_1/download_logs'
  const output = '/api/v1/devboxes/dbx_1/executions/exe_1/stream_stdout_updates'

  it('arrive piece by piece, uncompressed and unbuffered', async () => {
    let write = (_: string) => undefined as unknown
    reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      write = (text) => response.write(text)
    }
    const response = await ask(output)
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform')
    expect(recorded[0]?.headers.accept).toBe('text/event-stream')
    const reader = response.body!.getReader()
    for (const text of ['data: {"output":"1"}\n\n', 'data: {"output":"2"}\n\n']) {
      write(text)
      expect(Buffer.from((await reader.read()).value!).toString()).toBe(text)
    }
    await reader.cancel()
  })

  it('may be empty, and become attachments even if the service does not mark them', async () => {
    reply = (_, response) => response.writeHead(204).end()
    expect((await post(logs)).status).toBe(204)
    reply = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/zip', 'content-length': '2', 'content-disposition': 'inline' })
        .end('PK')
    const { headers } = await post(logs)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-disposition': 'attachment',
      'content-length': '2',
      'content-security-policy': 'sandbox',
    })
  })

  it('fail instead of ending when the service disconnects', async () => {
    reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/zip' })
      response.write(chunk, () => response.destroy())
    }
    const response = await post(logs)
    await expect(response.arrayBuffer()).rejects.toThrow()
  })

  it('are closed at the service when the browser disconnects', async () => {
    const left = Promise.withResolvers<void>()
    reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': open\n\n')
      response.once('close', left.resolve)
    }
    const leaving = new AbortController()
    const response = await ask(output, { signal: leaving.signal })
    await response.body!.getReader().read()
    leaving.abort()
    await left.promise
  })

  it('of 1 GB do not pile up when curl reads 10 kB per second, and end at the service when curl does', async () => {
    let sent = 0
    const left = Promise.withResolvers<void>()
    reply = (_, response) => {
      response.once('close', left.resolve)
      response.writeHead(200, { 'content-type': 'application/zip', 'content-length': 1024 ** 3 })
      const more = () => {
        while (sent < 1024 ** 3 && !response.destroyed) {
          sent += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    }
    const { child, exitCode } = curl(logs, '--limit-rate', '10k')
    await untilStill(() => sent)
    expect(sent).toBeLessThan(32 * 1024 * 1024)
    child.kill()
    await left.promise
    expect(await exitCode).toBeNull()
  })

  it.each([
    ['with', { 'content-length': 64 * 1024 }],
    ['without', {}],
  ])('that are cut off halfway, %s a length, make curl fail', async (_, headers) => {
    reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/zip', ...headers })
      response.write(chunk.subarray(0, 32 * 1024), () => response.destroy())
    }
    const { exitCode, received } = curl(logs)
    // Partial file, or failure in receiving network data.
    expect([18, 56]).toContain(await exitCode)
    expect(received()).toBeLessThanOrEqual(32 * 1024)
  })

  it('do not pile up when the service reads slowly', async () => {
    const begin = Promise.withResolvers<void>()
    reads = begin.promise
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === 128 * 1024 * 1024) return controller.close()
        sent += chunk.length
        controller.enqueue(chunk)
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const init = { method: 'POST', headers, body, duplex: 'half', redirect: 'error', window: null } as RequestInit
    const answer = ask('/api/v1/devboxes/dbx_1/upload_file', init)
    await untilStill(() => sent)
    expect(sent).toBeLessThan(32 * 1024 * 1024)
    begin.resolve()
    expect((await answer).status).toBe(200)
    expect(recorded[0]?.body).toHaveLength(128 * 1024 * 1024)
  })

  it('end at sign-out', async () => {
    const left = Promise.withResolvers<void>()
    reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': open\n\n')
      response.once('close', left.resolve)
    }
    const own = await gateway.signIn(apiKey)
    const response = await gateway.fetch(output, { cookie: own })
    const reader = response.body!.getReader()
    await reader.read()
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: own })
    await expect(reader.read()).rejects.toThrow()
    await left.promise
  })
})

it('never returns the key', async () => {
  reply = (_, response) => json(response, { axons: [] })
  for (const path of ['/api/v1/axons', '/api/v1/accounts/me', '/api/v1/axons/%01', '/api/session']) {
    const response = await ask(path)
    expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain(apiKey)
  }
})
