import { type InfiniteData, QueryClient } from '@tanstack/react-query'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { apiQueryOf } from '../address/axon-view.ts'
import { type AxonRows, readSince } from './axon/rows.ts'
import { axonQueries } from './axons.ts'
import { overviewQueries } from './overview.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
/** Each ends that a list takes what others tell. */
const left: (() => void)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const leave of left.splice(0)) leave()
})

const filter = apiQueryOf({ include_total_count: true })
const create = async (name: string) => (await service.client.axons.create({ body: { name } })).id

/** A client with the pages of a list, and a count of the calls that are made from then on. */
const loadedList = async (limit: number, pages: number) => {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const options = axonQueries.rows(filter, limit, service.client)
  await queryClient.fetchInfiniteQuery({ ...options, pages })
  left.push(axonQueries.join(filter, limit, queryClient))
  let calls = 0
  let onCall = () => {}
  const list: typeof service.client.axons.list = (input) => {
    calls += 1
    onCall()
    return service.client.axons.list(input)
  }
  const api = { ...service.client, axons: { ...service.client.axons, list } }
  return {
    calls: () => calls,
    onCall: (act: () => void) => {
      onCall = act
    },
    data: () => queryClient.getQueryData<InfiniteData<AxonRows>>(options.queryKey),
    names: () =>
      queryClient
        .getQueryData<InfiniteData<AxonRows>>(options.queryKey)
        ?.pages.map(({ axons }) => axons.map(({ name, deleted_at_ms }) => (deleted_at_ms ? `${name} deleted` : name))),
    set: (update: (data: InfiniteData<AxonRows>) => InfiniteData<AxonRows>) =>
      queryClient.setQueryData<InfiniteData<AxonRows>>(options.queryKey, (data) => data && update(data)),
    refresh: () => queryClient.fetchQuery({ ...axonQueries.refresh(filter, limit, api), staleTime: 0 }),
  }
}

const later = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })

it('reads all loaded pages again in one call, with what is new, changed and deleted', async () => {
  const [one = '', two = ''] = [await create('one'), await create('two'), await create('three')]
  const list = await loadedList(2, 2)
  expect(list.names()).toEqual([['three', 'two'], ['one']])
  const before = readSince(list.data()?.pages ?? [])

  // What was just read is not read again.
  await list.refresh()
  expect(list.calls()).toBe(0)

  later(60_000)
  await create('four')
  await service.client.axons.delete({ params: { id: one } })
  await service.client.axons.update({ params: { id: two }, body: { metadata: { seen: 'yes' } } })
  await list.refresh()
  expect(list.calls()).toBe(1)
  expect(list.names()).toEqual([
    ['four', 'three'],
    ['two', 'one deleted'],
  ])
  expect(list.data()?.pages.map(({ has_more }) => has_more)).toEqual([true, false])
  expect(list.data()?.pages[0]?.total_count).toBe(4)
  expect(list.data()?.pages[1]?.axons[0]?.metadata).toEqual({ seen: 'yes' })
  expect(readSince(list.data()?.pages ?? [])).toBeGreaterThan(before + 50_000)

  // A list of which more exists keeps its length.
  const start = await loadedList(2, 1)
  later(120_000)
  await create('five')
  await start.refresh()
  expect(start.names()).toEqual([['five', 'four']])
  expect(start.data()?.pages[0]?.has_more).toBe(true)
})

it('reads a long list again less often', async () => {
  const list = await loadedList(2, 1)
  list.set(({ pages: [page], ...data }) => {
    const axons = Array.from({ length: 1001 }, (_, i) => ({ ...page?.axons[0], id: `axn_${i}` }))
    return { ...data, pages: [{ ...page, axons, has_more: false } as AxonRows] }
  })
  later(20_000)
  await list.refresh()
  expect(list.calls()).toBe(0)
  later(40_000)
  await list.refresh()
  expect(list.calls()).toBe(1)
})

it('writes nothing over rows that were loaded while it asked', async () => {
  const list = await loadedList(2, 1)
  later(60_000)
  const empty = (page: AxonRows) => ({ ...page, axons: [], has_more: false })
  list.onCall(() => list.set((data) => ({ ...data, pages: data.pages.map(empty) })))
  await list.refresh()
  expect(list.calls()).toBe(1)
  expect(list.names()).toEqual([[]])
})

it('takes what a tab of as many rows or more has read, and asks itself where that was fewer', async () => {
  for (let number = 0; number < 7; number++) await create(`before ${number}`)
  const [few, many] = [await loadedList(2, 1), await loadedList(2, 3)]
  later(60_000)
  await create('told')
  await many.refresh()
  expect(many.calls()).toBe(1)
  await expect.poll(few.names).toEqual([['told', 'before 6']])
  expect(few.data()?.pages[0]?.has_more).toBe(true)
  await few.refresh()
  expect(few.calls()).toBe(0)

  later(60_000)
  await create('told later')
  await few.refresh()
  expect(few.calls()).toBe(1)
  await many.refresh()
  expect(many.calls()).toBe(2)
  expect(many.names()?.[0]?.[0]).toBe('told later')
  expect(many.names()?.flat()).toHaveLength(6)
})

it('knows the last event of each axon that has one', async () => {
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
