import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Axon, AxonList, AxonListQuery } from '#lib/contract/axons.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { listPages, listRefresh } from './pages.ts'

let service: TestService
let query: AxonListQuery
let calls: AxonListQuery[]
beforeAll(async () => {
  service = await startService()
  for (let number = 0; number < 130; number++) await service.client.axons.create({ body: { name: `axon ${number}` } })
})
afterAll(() => service.close())

let lists = 0
beforeEach(() => {
  calls = []
  query = { limit: 20, include_total_count: true }
  lists += 1
})

const reading = () => ({
  queryKey: ['axons', lists, query],
  query,
  read: (query: AxonListQuery, signal: AbortSignal) => {
    calls.push(query)
    return service.client.axons.list({ query, signal })
  },
  rowsOf: ({ axons }: AxonList) => axons,
  withRows: (page: AxonList, axons: readonly Axon[]) => ({ ...page, axons: [...axons] }),
})

const openList = async (pages: number) => {
  const client = new QueryClient()
  await client.fetchInfiniteQuery({ ...listPages(reading()), pages })
  const rows = () =>
    client.getQueryData<{ pages: AxonList[] }>(reading().queryKey)?.pages.flatMap(reading().rowsOf) ?? []
  const shown = { from: 0, to: 0 }
  const refreshing = listRefresh(reading(), () => ({
    ...shown,
    rows: rows().slice(shown.from, shown.to),
    loaded: rows().length,
  }))
  const refresh = (from: number, to: number) => {
    Object.assign(shown, { from, to })
    return client.fetchQuery({ ...refreshing, staleTime: 0 })
  }
  return { client, rows, refresh }
}

it('reads the rows in view in one call, however many pages are loaded', async () => {
  const list = await openList(6)
  expect(calls).toHaveLength(6)
  const [row] = list.rows().slice(90)
  await service.client.axons.update({ params: { id: row?.id ?? '' }, body: { metadata: { seen: 'yes' } } })
  await list.refresh(85, 110)
  expect(calls.slice(6)).toEqual([{ ...query, starting_after: list.rows()[69]?.id, limit: 55 }])
  expect(list.rows()[90]?.metadata).toEqual({ seen: 'yes' })
  expect(list.rows()).toHaveLength(125)
})

it('starts from the top if the row to start after was removed', async () => {
  const list = await openList(3)
  const before = list.rows()
  calls = []
  const { axons } = await service.client.axons.list({ query: { limit: 1 } })
  expect(axons[0]?.id).toBe(before[0]?.id)
  list.client.setQueryData<{ pages: AxonList[]; pageParams: unknown[] }>(reading().queryKey, (data) => ({
    pages: (data?.pages ?? []).map((page) => ({
      ...page,
      axons: page.axons.map((axon) => ({ ...axon, id: `axn_${axon.id.slice(-6)}removed` })),
    })),
    pageParams: data?.pageParams ?? [],
  }))
  await list.refresh(40, 60)
  expect(list.rows()[0]?.id).toBe(before[0]?.id)
})
