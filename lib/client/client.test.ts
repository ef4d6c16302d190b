import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { ApiError } from './api-error.ts'
import { createClient } from './client.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** A client of a fake server. */
const against = async (listener: RequestListener, path = '') => {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    listener(request, response)
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  return { client: createClient({ baseUrl, headers: { authorization: 'Bearer ak_1' } }), seen }
}

const answer = (status: number, type: string | undefined, body: string) =>
  against((_, response) => response.writeHead(status, type ? { 'content-type': type } : {}).end(body))

const failure = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ApiError)
  return error as ApiError
}

describe('against the service', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ isolation: 'none' })
  })
  afterAll(() => service.close())

  it('calls operations by name and encodes their parameters', async () => {
    const metadata = { 'a b&c': 'x,y\\z' }
    const axon = await service.client.axons.create({ body: { name: 'é ?#', metadata } })
    const conditions = [{ key: 'a b&c', op: 'in' as const, values: ['x,y\\z', 'other'] }]
    const page = await service.client.axons.list({ query: { metadata: conditions, name: 'é ?', limit: 1 } })
    expect(page).toEqual({ axons: [axon], has_more: false, total_count: 1 })
  })

  it('uploads a file as a form and downloads it unchanged', async () => {
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
    expect(
      await service.client.files.upload({ params: { id }, body: { path: 'ä b' }, file: new Blob([bytes]) }),
    ).toEqual({})
    const response = await service.client.files.download({ params: { id }, body: { path: 'ä b' } })
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes)
  })

  it.each([
    ['an unknown id', () => service.client.axons.get({ params: { id: 'axn_x' } }), { code: 'not_found', status: 404 }],
    [
      'an id with path segments',
      () => service.client.axons.get({ params: { id: '../axons' } }),
      { code: 'invalid_argument', status: 400, field: 'id' },
    ],
    [
      'a wrong value',
      () => service.client.axons.list({ query: { limit: 0 } }),
      { code: 'invalid_argument', status: 400, field: 'limit' },
    ],
    [
      'an unsupported operation',
      () => service.client.hostedOnly.listBlueprints(),
      { code: 'not_implemented', status: 501 },
    ],
    [
      'a wrong key',
      () => createClient({ baseUrl: service.url, headers: { authorization: 'Bearer x' } }).accounts.me(),
      { code: 'unauthenticated', status: 401 },
    ],
  ])('throws an ApiError with the code of %s', async (_, call, expected) => {
    const error = await failure(call())
    expect(error).toMatchObject(expected)
    expect(error.requestId).toMatch(/^req_/)
    expect(error.message).not.toBe('')
  })

  it('throws the error of a rejected stream when it is read', async () => {
    const stranger = createClient({ baseUrl: service.url })
    expect(await failure(readAll(stranger.evictions.watch()))).toMatchObject({ code: 'unauthenticated', status: 401 })
  })

  it('throws a TypeError instead of calling with an empty id', async () => {
    await expect(service.client.axons.get({ params: { id: '' } })).rejects.toThrow(TypeError)
  })

  it('closes the connection when a stream is left', async () => {
    const leave = new AbortController()
    const reading = readAll(service.client.evictions.watch({ signal: leave.signal }))
    leave.abort()
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('against another server', () => {
  const axons = async (made: ReturnType<typeof answer>) => failure((await made).client.axons.list())

  it.each([
    [
      200,
      'text/html',
      '<h1>Welcome</h1>',
      { code: 'bad_upstream', status: 200, message: expect.stringContaining('text/html') },
    ],
    [200, undefined, '{}', { code: 'bad_upstream', status: 200 }],
    [200, 'application/jsonp', '{}', { code: 'bad_upstream', status: 200 }],
    [200, 'application/json', '{"axons":[', { code: 'bad_upstream', status: 200 }],
    [
      502,
      'text/html',
      '<h1>Bad gateway</h1>',
      { code: 'bad_upstream', status: 502, message: 'The service returned 502 without an error message' },
    ],
    [404, 'text/html', '<h1>Not found</h1>', { code: 'not_found', status: 404 }],
    [429, 'application/json', 'null', { code: 'rate_limited', status: 429 }],
    [403, 'application/json', '"no"', { code: 'forbidden', status: 403 }],
    [418, undefined, '', { code: 'invalid_argument', status: 418 }],
    [520, undefined, '', { code: 'bad_upstream', status: 520 }],
    [409, 'application/json', '{"message":"busy"}', { code: 'conflict', status: 409, message: 'busy' }],
    [
      409,
      'application/json',
      '{"code":"novel","message":5}',
      { code: 'conflict', status: 409, message: 'The service returned 409 without an error message' },
    ],
    [400, 'application/json', '{"code":"toString"}', { code: 'invalid_argument', status: 400 }],
    [
      400,
      'application/json',
      '{"code":"conflict","field":"x","request_id":"r"}',
      { code: 'conflict', status: 400, field: 'x', requestId: 'r' },
    ],
  ])('maps a %i of type %s to an error', async (status, type, body, expected) => {
    expect(await axons(answer(status, type, body))).toMatchObject(expected)
  })

  it('reports an unreachable service', async () => {
    const { client } = await answer(200, undefined, '')
    const server = servers.pop() as Server
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    expect(await failure(client.axons.list())).toMatchObject({ code: 'unreachable', status: 0 })
  })

  it('reports an interrupted response', async () => {
    const { client } = await against((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{')
      setImmediate(() => request.socket.destroy())
    })
    expect(await failure(client.axons.list())).toMatchObject({ code: 'unreachable' })
  })

  it('does not follow redirects, which would leak the key', async () => {
    const { client, seen } = await against((_, response) => response.writeHead(302, { location: '/elsewhere' }).end())
    expect(await failure(client.axons.list())).toMatchObject({ code: 'unreachable' })
    expect(seen).toHaveLength(1)
  })

  it('rethrows an abort unchanged', async () => {
    const leave = new AbortController()
    const { client } = await against(() => leave.abort())
    await expect(client.axons.list({ signal: leave.signal })).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('passes unknown fields through and fills in missing ones', async () => {
    const body = JSON.stringify({ axons: [{ id: 'x', colour: 'red', metadata: null }] })
    expect(await (await answer(200, 'application/vnd.api+json; charset=utf-8', body)).client.axons.list()).toEqual({
      axons: [{ id: 'x', colour: 'red', metadata: {}, created_at_ms: Number.NaN }],
      has_more: false,
    })
  })

  it.each(['[]', 'null', '"axons"', '7'])('rejects the response %s', async (body) => {
    const { client } = await answer(200, 'application/json', body)
    expect(await failure(client.axons.list())).toMatchObject({ code: 'bad_upstream' })
  })

  it('keeps the path of its base URL and sends the key in a header only', async () => {
    const { client, seen } = await against(
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
      '/deep/base/',
    )
    await client.axons.create()
    await client.axons.get({ params: { id: 'a/b?c' } })
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /deep/base/v1/axons',
      'GET /deep/base/v1/axons/a%2Fb%3Fc',
    ])
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer ak_1',
      'content-type': 'application/json',
      accept: 'application/json',
    })
    expect(seen[1]?.headers).not.toHaveProperty('content-type')
  })

  it('requests an event stream and throws its error event as an ApiError', async () => {
    const { client, seen } = await answer(
      200,
      'text/event-stream',
      'data: {"devbox_id":"d"}\n\nevent: error\ndata: {"code":"409","message":"gone"}\n\n',
    )
    const events: unknown[] = []
    expect(await failure(readAll(client.evictions.watch(), events))).toMatchObject({
      code: 'conflict',
      status: 409,
      message: 'gone',
    })
    expect(events).toEqual([{ devbox_id: 'd' }])
    expect(seen[0]?.headers.accept).toBe('text/event-stream')
  })

  it.each(['nonsense', '{}', '{"code":"x"}'])('throws an ApiError for the error event %s', async (data) => {
    const { client } = await answer(200, 'text/event-stream', `event: error\ndata: ${data}\n\n`)
    expect(await failure(readAll(client.evictions.watch()))).toMatchObject({ code: 'internal', status: 500 })
  })
})

const readAll = async (events: AsyncIterable<unknown>, into: unknown[] = []) => {
  for await (const event of events) into.push(event)
}
