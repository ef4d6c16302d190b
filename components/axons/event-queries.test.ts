import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { matchingEvents } from './event-queries.ts'
import { noEventFilter } from './event-rows.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

it('finds the events of the whole log that a filter shows, in pages from the newest on', async () => {
  const { id } = await service.client.axons.create({ body: {} })
  const publish = (event_type: string, part: object = {}) =>
    service.client.axons.publish({
      params: { id },
      body: { event_type, origin: 'AGENT_EVENT', source: 'CI', payload: '{"step": 1}', ...part },
    })
  for (let start = 0; start < 510; start += 30)
    await Promise.all(Array.from({ length: 30 }, () => publish('Build.Step')))
  await publish('other', { origin: 'USER_EVENT', payload: '100% _done_' })
  await publish('build.end', { source: 'console' })

  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const found = async (part: Partial<typeof noEventFilter>, pages = 1) => {
    const options = matchingEvents(id, { ...noEventFilter, ...part }, service.client)
    const data = await queryClient.fetchInfiniteQuery({ ...options, pages })
    return data.pages
  }
  const [first, second, third] = await found({ type: 'BUILD.' }, 3)
  expect(first?.counted).toEqual({ matching: 511, last: 512 })
  expect(first?.events).toHaveLength(500)
  expect(first?.events[0]).toMatchObject({ axon_id: id, sequence: 512, event_type: 'build.end', origin: 'AGENT_EVENT' })
  expect(second?.events).toHaveLength(11)
  expect(second?.counted).toBeUndefined()
  expect(third).toBeUndefined()

  const typesOf = async (part: Partial<typeof noEventFilter>) =>
    (await found(part)).flatMap(({ events }) => events.map(({ event_type }) => event_type))
  expect(await typesOf({ origin: 'USER_EVENT' })).toEqual(['other'])
  expect(await typesOf({ source: 'sole', type: 'end' })).toEqual(['build.end'])
  expect(await typesOf({ payload: '0% _D' })).toEqual(['other'])
  expect(await typesOf({ payload: "'; DROP TABLE x" })).toEqual([])

  await service.client.axons.delete({ params: { id } })
  queryClient.clear()
  expect(await typesOf({ origin: 'USER_EVENT' })).toEqual(['other'])
})
