import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { afterEach, describe, expect, it, vi } from 'vitest'
import WebSocket from 'ws'
import * as z from 'zod/mini'
import { bytes, defineEndpoints, type Endpoint, events, json } from '#lib/contract/endpoint.ts'
import { terminals } from '#lib/contract/terminals.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { terminalSchemes } from '#lib/service/routes/terminal-credentials.ts'
import { sendRaw } from '#lib/service/testing/service.ts'
import { createAuthenticate, type Scheme } from './auth.ts'
import { type Caller, implement, type Route } from './implement.ts'
import { createListener } from './listener.ts'
import { createRouter } from './router.ts'
import { listen } from './server.ts'
import { createUpgrades } from './upgrade.ts'

const key = 'ak_listener'
const authorization = `Bearer ${key}`

let stop: (() => Promise<void>) | undefined
afterEach(async () => {
  await stop?.()
  stop = undefined
})

/** Serves test routes with the real HTTP layer. */
const serve = async (
  routes: Route[],
  options: { schemes?: ReadonlyMap<Endpoint, Scheme>; idleTimeoutMs?: number } = {},
) => {
  const stopping = new AbortController()
  const logged: { request_id: string; operation: string; message: string }[] = []
  const context = {
    router: createRouter(routes),
    authenticate: createAuthenticate([{ account: 'test', key }], options),
    checkHost: () => undefined,
    spoolFolder: tmpdir(),
    validateResponses: true,
    stopping: stopping.signal,
    synced: async () => undefined,
    log: (entry: (typeof logged)[number]) => void logged.push(entry),
  }
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    listener: createListener(context),
    upgrades: createUpgrades(context),
    ...(options.idleTimeoutMs !== undefined && { idleTimeoutMs: options.idleTimeoutMs }),
  })
  stop = () => {
    stopping.abort()
    return server.close()
  }
  const url = `http://127.0.0.1:${server.port}`
  return {
    url,
    port: server.port,
    logged,
    get: (path: string, headers = {}) => sendRaw(url, { path, headers: { authorization, ...headers } }),
  }
}

const Thing = z.object({ id: z.string(), parts: z.array(z.object({ size: z.int() })) })
const things = defineEndpoints('things', 'stable', {
  get: { method: 'GET', path: '/things/:id', response: json(Thing) },
  watch: { method: 'GET', path: '/watch', response: events(Thing) },
  download: { method: 'GET', path: '/download', response: bytes('application/zip') },
})
const thing = (size = 1) => ({ id: 'a', parts: [{ size }] })

interface ThingHandlers {
  get?: (caller: Caller) => unknown
  watch?: (caller: Caller) => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>
  download?: () => AsyncIterable<Uint8Array>
}

async function* nothing() {}

const serveThings = (
  { get = () => thing(), watch = nothing, download = nothing }: ThingHandlers,
  idleTimeoutMs?: number,
) =>
  serve(
    implement(things, { get: get as never, watch: watch as never, download }),
    idleTimeoutMs === undefined ? {} : { idleTimeoutMs },
  )

/** Resolves once the count no longer changes, because all buffers are full. */
const untilStable = async (count: () => number): Promise<number> => {
  let before = count()
  for (let turns = 0; turns < 1000; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (count() !== before) turns = 0
    before = count()
  }
  return before
}

describe('a JSON response', () => {
  it('is not cached and has a request id', async () => {
    const { get } = await serveThings({
      get: ({ setHeader }) => {
        setHeader('x-more', 'yes')
        return thing()
      },
    })
    const { status, headers, body } = await get('/things/a', { 'x-request-id': 'stainless-node-retry-1' })
    expect({ status, body: JSON.parse(body) }).toEqual({ status: 200, body: thing() })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'stainless-node-retry-1',
      'x-more': 'yes',
    })
  })

  it.each([
    ['an unknown nested field', { id: 'a', parts: [{ size: 1, color: 'red' }] }, 'parts.0.color'],
    ['a wrong type', { id: 5, parts: [] }, 'id'],
  ])('with %s is a 500 that is logged with the field', async (_, response, field) => {
    const { get, logged } = await serveThings({ get: () => response })
    const { status, body, headers } = await get('/things/a')
    expect({ status, code: JSON.parse(body).code }).toEqual({ status: 500, code: 'internal' })
    expect(logged).toEqual([expect.objectContaining({ operation: 'things.get', request_id: headers['x-request-id'] })])
    expect(logged[0]?.message).toContain(field)
  })
})

describe('a thrown error', () => {
  it('that is unexpected is a 500 with only the request id', async () => {
    const { get, logged } = await serveThings({
      get: () => {
        throw new Error('password is swordfish')
      },
    })
    const { status, body } = await get('/things/a')
    expect(status).toBe(500)
    expect(body).not.toContain('swordfish')
    expect(logged).toHaveLength(1)
    expect(logged[0]?.message).toContain('swordfish')
    expect(JSON.stringify(logged)).not.toContain(key)
  })

  it.each([
    ['a SQLite error', { errcode: 13 }],
    ['a file system error', { code: 'ENOSPC' }],
  ])('becomes insufficient_storage for %s about a full disk', async (_, marks) => {
    const { get } = await serveThings({
      get: () => {
        throw Object.assign(new Error('full'), marks)
      },
    })
    expect(await get('/things/a')).toMatchObject({ status: 507, body: expect.stringContaining('insufficient_storage') })
  })
})

describe('an event stream', () => {
  it('is one data line of JSON per event', async () => {
    const tricky = 'a\n\ndata: {}\r\nevent: error\u2028'
    const { get } = await serveThings({
      watch: async function* () {
        yield { ...thing(), id: tricky }
        yield thing(2)
      },
    })
    const { body } = await get('/watch', { accept: 'application/json' })
    const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith(':'))
    expect(lines.map((line) => JSON.parse(line.replace(/^data: /, '')))).toEqual([{ ...thing(), id: tricky }, thing(2)])
  })

  it('combines events that are available at once, in order, without delaying others', async () => {
    const more = Promise.withResolvers<void>()
    const { url } = await serveThings({
      watch: async function* () {
        yield thing(0)
        await more.promise
        for (let size = 1; size <= 5_000; size++) yield thing(size)
      },
    })
    // Node's client emits each chunk separately.
    const request = httpRequest(`${url}/watch`, { headers: { authorization } }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    let body = ''
    let pieces = 0
    response.on('data', (piece) => {
      body += piece
      pieces++
      if (body.includes('"size":0')) more.resolve()
    })
    await once(response, 'end')
    const sizes = [...body.matchAll(/"size":(\d+)/g)].map(([, size]) => Number(size))
    expect(sizes).toEqual(Array.from({ length: 5_001 }, (_, size) => size))
    expect(pieces).toBeLessThan(50)
  })

  it.each([
    ['a known error', () => new ServiceError('conflict', 'removed'), { code: '409', message: 'removed' }, 0],
    [
      'an unknown error',
      () => new Error('swordfish'),
      { code: '500', message: expect.stringMatching(/^Internal error/) },
      1,
    ],
  ])('ends with an error event on %s', async (_, error, data, times) => {
    const { get, logged } = await serveThings({
      watch: async function* () {
        yield thing()
        throw error()
      },
    })
    const { status, body } = await get('/watch')
    const [name, line] = body.trimEnd().split('\n').slice(-2)
    expect({ status, name }).toEqual({ status: 200, name: 'event: error' })
    expect(JSON.parse(line?.replace(/^data: /, '') ?? '')).toEqual(data)
    expect(logged).toHaveLength(times)
  })

  it.each(['while the source is busy', 'while the source waits'])(
    'aborts the source when the client disconnects %s',
    async (when) => {
      const ended = Promise.withResolvers<string>()
      const { url } = await serveThings({
        watch: async function* ({ signal }) {
          try {
            for (;;) {
              yield thing()
              if (when === 'while the source waits')
                await new Promise((_, reject) =>
                  signal.addEventListener('abort', () => reject(new Error('disconnected'))),
                )
            }
          } finally {
            ended.resolve(`aborted: ${signal.aborted}`)
          }
        },
      })
      const disconnect = new AbortController()
      const response = await fetch(`${url}/watch`, { headers: { authorization }, signal: disconnect.signal })
      await response.body?.getReader().read()
      disconnect.abort()
      expect(await ended.promise).toBe('aborted: true')
    },
  )

  it("pauses its source while the client doesn't read", async () => {
    let produced = 0
    const { port } = await serveThings({
      watch: async function* () {
        for (;;) {
          produced++
          yield { ...thing(), id: 'x'.repeat(100_000) }
        }
      },
    })
    const socket = createConnection(port, '127.0.0.1', () =>
      socket.write(`GET /watch HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`),
    )
    await once(socket, 'readable')
    const before = await untilStable(() => produced)
    expect(before).toBeLessThan(500)
    socket.resume()
    await expect.poll(() => produced).toBeGreaterThan(before)
    socket.destroy()
  })

  it('ends with a 408 when the service stops, so clients reconnect', async () => {
    const ended = Promise.withResolvers<void>()
    const { url } = await serveThings({
      watch: async function* ({ signal }) {
        yield thing()
        await once(signal, 'abort')
        ended.resolve()
      },
    })
    const response = await fetch(`${url}/watch`, { headers: { authorization } })
    const [body] = await Promise.all([response.text(), stop?.()])
    expect(body).toContain('event: error\ndata: {"code":"408"')
    await ended.promise
  })

  it('has keep-alives between events', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { get } = await serveThings({
        watch: async function* () {
          vi.advanceTimersByTime(15_000)
          yield thing()
        },
      })
      const { body } = await get('/watch')
      expect(body).toBe(`: connected\n\n: keep-alive\n\ndata: ${JSON.stringify(thing())}\n\n`)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('an HTTP/2 connection', () => {
  it('is closed when idle, but not while a response is pending', async () => {
    const response = Promise.withResolvers<ReturnType<typeof thing>>()
    const { port, url } = await serveThings({ get: () => response.promise }, 50)
    const waiting = connectHttp2(url)
    const stream = waiting.request({ ':path': '/things/a', authorization })
    const idle = createConnection(port, '127.0.0.1').resume()
    idle.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    await once(idle, 'close')
    response.resolve(thing())
    const [headers] = await once(stream, 'response')
    expect(headers[':status']).toBe(200)
    waiting.close()
  })
})

describe('a download', () => {
  it('that fails midway is visibly incomplete', async () => {
    const { get, logged } = await serveThings({
      download: async function* () {
        yield Buffer.from('PK')
        throw new Error('disk trouble')
      },
    })
    await expect(get('/download')).rejects.toThrow()
    expect(logged[0]?.message).toBe('disk trouble')
  })
})

describe('a terminal socket', () => {
  const token = 'tok_1'
  const grant = { account: 'test', devboxId: 'dbx_1' }
  const tickets = new Set<string>()
  const tokens = {
    find: (given: string) => (given === token ? grant : undefined),
    redeem: (ticket: string, session: string) => (session === 's1' && tickets.delete(ticket) ? grant : undefined),
  }

  const serveTerminals = () =>
    serve(
      implement(terminals, {
        connect: ({ scope }) => ({ created: true, attached: false, session_name: scope ?? 'by key' }),
        control: ({ params }) => ({ session_name: params.session_name, status: 'ready' }),
        attach: ({ params, scope, query }) => {
          if (params.session_name === 'missing') throw new ServiceError('not_found', 'There is no such terminal')
          return (socket) => {
            socket.send(`${params.session_name} ${scope ?? 'by key'} ${query.size?.cols ?? ''}`.trim())
            socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
          }
        },
      }),
      { schemes: new Map(terminalSchemes(tokens)) },
    )

  const attach = (url: string, protocols: string[] = [], headers: Record<string, string> = {}) =>
    new Promise<{ status: number; protocol?: string; first?: string; error?: { code: string }; socket?: WebSocket }>(
      (resolve, reject) => {
        const socket = new WebSocket(url, protocols, { headers })
        socket.once('message', (data) =>
          resolve({ status: 101, protocol: socket.protocol, first: String(data), socket }),
        )
        socket.once('error', reject)
        socket.once('unexpected-response', async (request, response) => {
          let body = ''
          for await (const chunk of response) body += chunk
          resolve({ status: response.statusCode ?? 0, error: JSON.parse(body) })
          request.destroy()
        })
      },
    )

  it.each([
    ['the key', [], { authorization }, 's1 by key', ''],
    ['a terminal token', [], { authorization: `Bearer ${token}` }, 's1 dbx_1', ''],
    [
      'a terminal token in the tunnel header',
      [],
      { 'x-runloop-tunnel-authorization': `bearer ${token}` },
      's1 dbx_1',
      '',
    ],
    ['a terminal token as the subprotocol', [token], {}, 's1 dbx_1', token],
    ['a terminal token as one of several subprotocols', ['other', token], {}, 's1 dbx_1', token],
    ['the key, with an unrelated subprotocol', ['other'], { authorization }, 's1 by key', 'other'],
  ])('opens with %s', async (_, protocols, headers, first, protocol) => {
    const { url } = await serveTerminals()
    const opened = await attach(`${url}/pty/s1/attach`, protocols, headers as Record<string, string>)
    expect(opened).toMatchObject({ status: 101, first, protocol })
    opened.socket?.close()
  })

  it('opens with a ticket once and for one session only', async () => {
    const { url } = await serveTerminals()
    tickets.add('t1')
    expect(await attach(`${url}/pty/s2/attach?ticket=t1`)).toMatchObject({ status: 401 })
    expect(await attach(`${url}/pty/s1/attach?ticket=t1&cols=100&rows=30`)).toMatchObject({
      status: 101,
      first: 's1 dbx_1 100',
    })
    expect(await attach(`${url}/pty/s1/attach?ticket=t1`)).toMatchObject({
      status: 401,
      error: { code: 'unauthenticated' },
    })
  })

  it('consumes a ticket even if a token is sent as well', async () => {
    const { url } = await serveTerminals()
    tickets.add('t2')
    for (let i = 0; i < 2; i++)
      expect(await attach(`${url}/pty/s1/attach?ticket=t2`, [token])).toMatchObject({ status: 101, protocol: token })
    expect(tickets.size).toBe(0)
  })

  it('is rejected with an HTTP response', async () => {
    const { url } = await serveTerminals()
    expect(await attach(`${url}/pty/missing/attach`, [token])).toMatchObject({
      status: 404,
      error: { code: 'not_found' },
    })
    expect(await attach(`${url}/pty/a%2fb/attach`, [token])).toMatchObject({
      status: 400,
      error: { field: 'session_name' },
    })
    expect(await attach(`${url}/pty/s1/attach?cols=1001&rows=2`, [token])).toMatchObject({ status: 400 })
    expect(await attach(`${url}/pty/s1/attach`, ['wrong'])).toMatchObject({ status: 401 })
    expect(await attach(`${url}/nowhere`, [], { authorization })).toMatchObject({ status: 404 })
  })
})
