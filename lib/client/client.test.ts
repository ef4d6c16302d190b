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

  it.each([
    ['an unknown id', () => service.client.axons.get({ params: { id: 'axn_x' } }), { code: 'not_found', status: 404 }],
    [
      'an id with path segments',
      () => service.client.axons.get({ params: { id: '../axons' } }),
      { code: 'invalid_argument', status: 400, field: 'id' },
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
  })

  it('throws the error of a rejected stream when it is read', async () => {
    const stranger = createClient({ baseUrl: service.url })
    expect(await failure(readAll(stranger.evictions.watch()))).toMatchObject({ code: 'unauthenticated', status: 401 })
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
    [200, 'text/html', '<h1>Welcome</h1>', { code: 'bad_upstream', message: expect.stringContaining('text/html') }],
    [200, undefined, '{}', { code: 'bad_upstream' }],
    [200, 'application/json', '{"axons":[', { code: 'bad_upstream' }],
    [200, 'application/json', '[]', { code: 'bad_upstream' }],
    [502, 'text/html', '', { code: 'bad_upstream', message: 'The service returned 502 without an error message' }],
    [404, 'text/html', '<h1>Not found</h1>', { code: 'not_found' }],
    [429, 'application/json', 'null', { code: 'rate_limited' }],
    [418, undefined, '', { code: 'invalid_argument' }],
    [520, undefined, '', { code: 'bad_upstream' }],
    [409, 'application/json', '{"code":"novel","message":"busy"}', { code: 'conflict', message: 'busy' }],
    [400, 'application/json', '{"code":"toString","message":5}', { code: 'invalid_argument' }],
    [
      400,
      'application/json',
      '{"code":"conflict","field":"x","request_id":"r"}',
      { code: 'conflict', field: 'x', requestId: 'r' },
    ],
  ])('maps a %i of type %s to an error', async (status, type, body, expected) => {
    expect(await axons(answer(status, type, body))).toMatchObject({ status, ...expected })
  })

  it('reports an unreachable service', async () => {
    const { client } = await answer(200, undefined, '')
    const server = servers.pop() as Server
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    expect(await failure(client.axons.list())).toMatchObject({ code: 'unreachable', status: 0 })
  })

  it('does not follow redirects, which would leak the key', async () => {
    const { client, seen } = await against((_, response) => response.writeHead(302, { location: '/elsewhere' }).end())
    expect(await failure(client.axons.list())).toMatchObject({ code: 'unreachable' })
    expect(seen).toHaveLength(1)
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
})

const readAll = async (events: AsyncIterable<unknown>, into: unknown[] = []) => {
  for await (const event of events) into.push(event)
}
