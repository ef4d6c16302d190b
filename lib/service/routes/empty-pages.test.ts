import { afterAll, beforeAll, expect, it } from 'vitest'
import { endpoints } from '#lib/contract/index.ts'
import { shapeOf } from '#lib/contract/query-string.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const lists = endpoints.filter(
  ({ id, method, query, path }) =>
    !id.startsWith('hostedOnly.') && method === 'GET' && !path.includes(':') && query && 'limit' in shapeOf(query),
)

it.each(lists)('$path?limit=0 returns an empty page', async ({ path }) => {
  const response = await service.fetch(`${path}?limit=0`)
  expect(response.status).toBe(200)
  const { has_more, total_count, ...page } = await response.json()
  expect(Object.values(page)).toEqual([[]])
  expect([has_more, total_count]).toEqual([false, 0])
})

it('a page of no records still reports their number', async () => {
  const { client } = service
  const axon = await client.axons.create({ body: {} })
  for (const payload of ['1', '2'])
    await client.axons.publish({
      params: { id: axon.id },
      body: { event_type: 'e', origin: 'USER_EVENT', source: 's', payload },
    })
  await client.secrets.create({ body: { name: 'a', value: 'x' } })
  await client.benchmarks.create({ body: { name: 'b' } })
  const query = { limit: 0 }
  expect(await client.axons.list({ query })).toEqual({ axons: [], has_more: true, total_count: 1 })
  expect(await client.axons.events({ params: { id: axon.id }, query })).toEqual({
    events: [],
    has_more: true,
    total_count: 2,
  })
  expect(await client.secrets.list({ query })).toEqual({ secrets: [], has_more: true, total_count: 1 })
  expect(await client.benchmarks.list({ query })).toEqual({ benchmarks: [], has_more: true, total_count: 1 })
})
