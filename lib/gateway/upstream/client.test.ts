import { expect, it } from 'vitest'
import { startService } from '#lib/service/testing/service.ts'
import { startConsole, startServer } from '../testing.ts'
import { clientFor, limitListSize, unreachable } from './client.ts'

it('gives up on a service that does not respond completely in time', async () => {
  const service = await startServer(({ url }, response) => {
    if (url?.startsWith('/v1/axons'))
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"axons":[')
  })
  const gateway = await startConsole(service)
  const client = clientFor('ak_1', 50)
  await expect(client.devboxes.list()).rejects.toMatchObject({ code: 'unreachable' })
  await expect(client.axons.list()).rejects.toMatchObject({ code: 'unreachable' })
  await gateway.close()
  service.close()
})

it('leaves lists that are too large to render to the browser, and reads a single record of any size', async () => {
  const service = await startService({ isolation: 'none' })
  const gateway = await startConsole(service)
  const pages = clientFor(service.key, 10_000, limitListSize)
  const large = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`key ${i}`, 'v'.repeat(4096)]))
  const small = await service.client.axons.create({ body: { name: 'small' } })
  expect((await pages.axons.list({ query: { limit: 100 } })).axons).toEqual([small])
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => (await service.client.axons.create({ body: { metadata: large } })).id),
  )
  await expect(pages.axons.list({ query: { limit: 100 } })).rejects.toThrow()
  expect((await pages.axons.list({ query: { limit: 5 } })).axons).toHaveLength(5)
  expect((await pages.axons.get({ params: { id: ids[0] ?? '' } })).metadata).toEqual(large)
  await gateway.close()
  await service.close()
})

const failing = (code: string) =>
  unreachable('https://s', new Error('fetch failed', { cause: Object.assign(new Error('tls'), { code }) }))

it('adds the cause where someone can fix it', () => {
  expect(failing('ENOTFOUND')).toMatch(/host name not found/)
  expect(failing('CERT_HAS_EXPIRED')).toMatch(/its certificate has expired/)
  expect(failing('DEPTH_ZERO_SELF_SIGNED_CERT')).toMatch(/its certificate is not trusted/)
  expect(failing('ECONNREFUSED')).toBe('Cannot reach the service at https://s')
  expect(unreachable('https://s', 'no error')).toBe('Cannot reach the service at https://s')
})
