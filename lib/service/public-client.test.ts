import Runloop from '@runloop/api-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from './testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

describe.each([
  ['HTTP/2, its default', {}],
  ['HTTP/1.1', { http2: false }],
])('the public client over %s', (_, transport) => {
  const client = () => new Runloop({ bearerToken: service.key, baseURL: service.url, maxRetries: 0, ...transport })

  it('creates, lists by metadata and reads axons', async () => {
    const name = `from ${JSON.stringify(transport)}`
    const axon = await client().axons.create({ name, metadata: { env: 'prod' } })
    const page = await client().axons.list({ name, limit: 5 })
    expect(page.axons.map(({ id }) => id)).toEqual([axon.id])
    expect(await client().axons.retrieve(axon.id)).toMatchObject({ id: axon.id, name, metadata: { env: 'prod' } })
  })

  it('follows the cursor through all pages', async () => {
    const name = `paged ${JSON.stringify(transport)}`
    const made: string[] = []
    for (let i = 0; i < 7; i++) made.unshift((await client().axons.create({ name })).id)
    const seen: string[] = []
    for await (const axon of client().axons.list({ name, limit: 3 })) seen.push(axon.id)
    expect(seen).toEqual(made)
  })

  it('meets the errors of the service as its own', async () => {
    await expect(client().axons.retrieve('axn_missing')).rejects.toMatchObject({
      status: 404,
      message: '404 There is no axon axn_missing',
    })
    const stranger = new Runloop({ bearerToken: 'ak_wrong', baseURL: service.url, maxRetries: 0, ...transport })
    await expect(stranger.axons.list({})).rejects.toMatchObject({ status: 401 })
  })
})
