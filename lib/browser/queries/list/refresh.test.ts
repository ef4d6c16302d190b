import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Axon, AxonList, AxonListQuery } from '#lib/contract/axons.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { listPages, listRefresh } from './pages.ts'
import { refreshKey } from './tab-lists.ts'

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

/** A tab that has loaded some pages of the list and shows some of their rows. */
const openTab = async (pages: number) => {
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
  refreshing.join(client)
  const refresh = (from: number, to: number) => {
    Object.assign(shown, { from, to })
    return client.fetchQuery({ ...refreshing.query, staleTime: 0 })
  }
  return { client, rows, refresh, names: () => rows().map(({ name }) => name) }
}

it('reads what is shown again, in one call whatever was loaded', async () => {
  const tab = await openTab(6)
  expect(calls).toHaveLength(6)
  const [row] = tab.rows().slice(90)
  await service.client.axons.update({ params: { id: row?.id ?? '' }, body: { metadata: { seen: 'yes' } } })
  await tab.refresh(85, 110)
  expect(calls.slice(6)).toEqual([{ ...query, starting_after: tab.rows()[69]?.id, limit: 55 }])
  expect(tab.rows()[90]?.metadata).toEqual({ seen: 'yes' })
  expect(tab.rows()).toHaveLength(125)
  expect(new Set(tab.names()).size).toBe(125)
})

it('is read by one tab for all of them, and by each again that wrote itself', async () => {
  const tabs = await Promise.all([openTab(1), openTab(1), openTab(1)])
  calls = []
  const first = await service.client.axons.create({ body: { name: `first ${lists}` } })
  await tabs[0]?.refresh(0, 20)
  for (const tab of tabs) await expect.poll(() => tab.rows()[0]?.id).toBe(first.id)
  for (const tab of tabs) await tab.refresh(0, 20)
  expect(calls).toHaveLength(1)

  await service.client.axons.create({ body: { name: `new ${lists}` } })
  const [writer] = tabs
  await writer?.client.invalidateQueries({ queryKey: refreshKey(reading().queryKey) })
  await writer?.refresh(0, 20)
  expect(calls).toHaveLength(2)
  for (const tab of tabs) await expect.poll(() => tab.names()[0]).toBe(`new ${lists}`)
})

it('counts a reading of more rows for a tab that shows fewer, and keeps what it shows more of', async () => {
  const [few, many] = [await openTab(1), await openTab(4)]
  await many.refresh(0, 80)
  const first = await service.client.axons.create({ body: { name: `counted ${lists}` } })
  calls = []
  // The same rows were read just now, and more.
  await few.refresh(0, 20)
  expect(calls).toHaveLength(0)
  await few.client.invalidateQueries({ queryKey: refreshKey(reading().queryKey) })
  await few.refresh(0, 20)
  expect(calls).toHaveLength(1)
  await expect.poll(() => many.rows()[0]?.id).toBe(first.id)
  expect(many.rows().length).toBeGreaterThanOrEqual(80)
})

it('starts from the top when the row it starts from is gone', async () => {
  const tab = await openTab(3)
  const before = tab.rows()
  calls = []
  const { axons } = await service.client.axons.list({ query: { limit: 1 } })
  expect(axons[0]?.id).toBe(before[0]?.id)
  // As another list would have it: the rows that were loaded are of none of these.
  tab.client.setQueryData<{ pages: AxonList[]; pageParams: unknown[] }>(reading().queryKey, (data) => ({
    pages: (data?.pages ?? []).map((page) => ({
      ...page,
      axons: page.axons.map((axon) => ({ ...axon, id: `axn_${axon.id.slice(-6)}gone` })),
    })),
    pageParams: data?.pageParams ?? [],
  }))
  await tab.refresh(40, 60)
  expect(tab.rows()[0]?.id).toBe(before[0]?.id)
})
