import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { overviewQueries } from '#components/overview/queries.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { axonQueries } from './queries.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const filter = { include_total_count: true }
const create = async (name: string) => (await service.client.axons.create({ body: { name } })).id

/** A tab with loaded list pages and only the first row in view, and the requests it makes. */
const loadedList = async (limit: number, pages: number) => {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const options = axonQueries.rows(filter, limit, service.client)
  await queryClient.fetchInfiniteQuery({ ...options, pages })
  const asked: unknown[] = []
  const list: typeof service.client.axons.list = (input) => {
    asked.push(input?.query)
    return service.client.axons.list(input)
  }
  const rows = () => queryClient.getQueryData(options.queryKey)?.pages.flatMap(({ axons }) => axons) ?? []
  const shown = () => ({ from: 0, to: 1, rows: rows().slice(0, 1), loaded: rows().length })
  const api = { ...service.client, axons: { ...service.client.axons, list } }
  const refresh = axonQueries.rows(filter, limit, api).refresh(shown)
  return {
    asked,
    names: () => rows().map(({ name, deleted_at_ms }) => (deleted_at_ms ? `${name} deleted` : name)),
    pages: () => queryClient.getQueryData(options.queryKey)?.pages ?? [],
    set: (axons: Axon[]) =>
      queryClient.setQueryData(options.queryKey, (data) => data && { ...data, pages: [{ axons, has_more: false }] }),
    options: refresh,
    refresh: () => queryClient.fetchQuery({ ...refresh, staleTime: 0 }),
  }
}

it('rereads all loaded rows in one call, with additions, changes and deletions', async () => {
  const [one = '', two = ''] = [await create('one'), await create('two'), await create('three')]
  const list = await loadedList(2, 2)
  expect(list.names()).toEqual(['three', 'two', 'one'])

  await create('four')
  await service.client.axons.delete({ params: { id: one } })
  await service.client.axons.update({ params: { id: two }, body: { metadata: { seen: 'yes' } } })
  await list.refresh()
  expect(list.asked).toHaveLength(1)
  expect(list.names()).toEqual(['four', 'three', 'two', 'one deleted'])
  expect(list.pages().at(-1)).toMatchObject({ has_more: false, total_count: 4 })
  expect(list.pages().at(-1)?.axons[2]?.metadata).toEqual({ seen: 'yes' })

  // A partly loaded list keeps its length.
  const start = await loadedList(2, 1)
  await create('five')
  await start.refresh()
  expect(start.asked).toEqual([{ ...filter, limit: 17 }])
  expect(start.names()).toEqual(['five', 'four'])
  expect(start.pages().at(-1)?.has_more).toBe(true)
})

it('rereads a long list less often, and only the rows in view if one call is too small', async () => {
  const list = await loadedList(2, 1)
  const many = (rows: number) =>
    Array.from({ length: rows }, (_, i) => ({ id: `axn_${i}`, name: null, created_at_ms: 0, metadata: {} }))
  const intervalMs = () => (list.options.refetchInterval as (query: object) => number)({ state: { error: null } })
  expect(intervalMs()).toBe(10_000)
  list.set(many(1001))
  expect(intervalMs()).toBe(60_000)
  await list.refresh()
  expect(list.asked.at(-1)).toMatchObject({ limit: 1016 })

  list.set(many(5001))
  await list.refresh()
  expect(list.asked.at(-1)).toMatchObject({ limit: 16 })
})

it('returns the last event of each axon that has one', async () => {
  const [busy, quiet, gone] = [await create('busy'), await create('quiet'), await create('gone')]
  const publish = (id: string, event_type: string) =>
    service.client.axons.publish({
      params: { id },
      body: { event_type, origin: 'USER_EVENT', source: 'test', payload: '{}' },
    })
  for (const id of [busy, gone]) for (const type of ['first', 'second']) await publish(id, type)
  await service.client.axons.delete({ params: { id: gone } })
  const axons = [busy, quiet, gone].map((id) => ({ id }))
  const last = await new QueryClient().fetchQuery(overviewQueries.lastEvents(axons, service.client))
  expect(Object.entries(last).map(([id, { event_type }]) => [id, event_type])).toEqual([
    [busy, 'second'],
    [gone, 'second'],
  ])
})
