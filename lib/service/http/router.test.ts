import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#lib/contract/index.ts'
import { sendRaw, startService, type TestService } from '#lib/service/testing/service.ts'
import { notImplemented } from './implement.ts'
import { createRouter } from './router.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const get = async (path: string, method = 'GET') => {
  const headers = { authorization: `Bearer ${service.key}` }
  const { status, headers: responseHeaders, body } = await sendRaw(service.url, { method, path, headers })
  return { status, allow: responseHeaders.allow, error: body ? JSON.parse(body) : {} }
}

describe('a raw path', () => {
  it.each([
    ['an id with ../ in it', '/v1/axons/%2e%2e%2fbenchmark_jobs%2fx'],
    ['two encoded dots', '/v1/axons/%2e%2e'],
    ['a backslash', '/v1/axons/..%5cx'],
    ['NUL', '/v1/axons/a%00'],
    ['CR LF', '/v1/axons/a%0d%0aX:1'],
    ['double encoding', '/v1/axons/%252e%252e'],
    ['a percent sign without digits', '/v1/axons/%zz'],
    ['bytes that are not UTF-8', '/v1/axons/%ff%fe'],
    ['a non-ASCII letter', '/v1/axons/%C3%A9'],
    ['nothing', '/v1/axons/'],
  ])('with %s as its id is a 400 that names the field', async (_, path) => {
    expect(await get(path)).toMatchObject({
      status: 400,
      error: { code: 'invalid_argument', field: 'id', message: expect.stringMatching(/^id: /) },
    })
  })

  it.each([
    '/',
    '//v1/axons',
    '/v1/axons/axn_1/',
    '/v1/../v1/axons',
    '/v1/./axons',
    '/v1%2faxons',
    '/V1/axons',
    '/v1/axons/axn_1/%zz',
    '/v1/%00',
  ])('%s is not found', async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, error: { code: 'not_found' } })
  })

  it.each([
    ['PUT', '/v1/axons', 'GET, POST'],
    ['OPTIONS', '/v1/axons/axn_1', 'GET, POST, DELETE'],
    ['GET', '/v1/benchmarks/runs/x/cancel', 'POST'],
  ])('rejects %s at %s and lists the allowed methods', async (method, path, allow) => {
    expect(await get(path, method)).toMatchObject({ status: 405, allow })
  })
})

describe('createRouter', () => {
  const router = createRouter([...endpoints].reverse().map((endpoint) => ({ endpoint, handler: notImplemented })))
  const idAt = (method: string, path: string) => router(method, path).match?.route.endpoint.id

  it('reaches every endpoint of the contract in any order', () => {
    for (const { id, method, path, aliases = [] } of endpoints)
      for (const address of [path, ...aliases]) expect(idAt(method, address.replace(/:\w+/g, 'x'))).toBe(id)
  })
})
