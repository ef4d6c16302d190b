import {
  environmentManager,
  focusManager,
  InfiniteQueryObserver,
  QueryClient,
  QueryObserver,
  type TimeoutCallback,
  timeoutManager,
} from '@tanstack/react-query'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { apiQueryOf } from '#lib/browser/address/axon-view.ts'
import { axonQueries } from '#lib/browser/queries/axons.ts'
import type { Devbox, DevboxList } from '#lib/contract/devboxes.ts'
import { fillDevboxes } from '#lib/service/testing/devboxes.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

/** The timers of all queries of all tabs, and the time they are told. */
const clock = {
  nowMs: 0,
  last: 0,
  timers: new Map<number, { atMs: number; everyMs: number | null; call: TimeoutCallback }>(),
  add(call: TimeoutCallback, ms: number, everyMs: number | null) {
    this.last += 1
    this.timers.set(this.last, { atMs: this.nowMs + ms, everyMs, call })
    return this.last
  },
  advance(ms: number) {
    this.nowMs += ms
    vi.setSystemTime(this.nowMs)
    for (const [id, timer] of [...this.timers].sort(([, a], [, b]) => a.atMs - b.atMs)) {
      if (timer.atMs > this.nowMs || !this.timers.has(id)) continue
      if (timer.everyMs === null) this.timers.delete(id)
      else timer.atMs += timer.everyMs
      timer.call()
    }
  },
}

let service: TestService
let calls = 0
const counted = <Input, Answer>(call: (input: Input) => Promise<Answer>) => {
  return (input: Input) => {
    calls += 1
    return call(input)
  }
}
beforeAll(async () => {
  environmentManager.setIsServer(() => false)
  timeoutManager.setTimeoutProvider({
    setTimeout: (call, ms) => clock.add(call, ms, null),
    setInterval: (call, ms) => clock.add(call, ms, ms),
    clearTimeout: (id) => void clock.timers.delete(Number(id)),
    clearInterval: (id) => void clock.timers.delete(Number(id)),
  })
  service = await startService()
  fillDevboxes(service, 2_000)
  for (let number = 0; number < 30; number++) await service.client.axons.create({ body: { name: `axon ${number}` } })
  clock.nowMs = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: clock.nowMs })
})
afterAll(async () => {
  vi.useRealTimers()
  await service.close()
})

interface Tab {
  client: QueryClient
  rows: () => { id: string; name?: string | null | undefined }[]
  /** When its refresh last had an answer, its own or that of another tab. */
  readMs: () => number
  close: () => void
}
const tabs: Tab[] = []
afterEach(() => {
  focusManager.setFocused(undefined)
  for (const { close } of tabs.splice(0)) close()
})

const query = { limit: 20, include_total_count: true }
/** How many rows each call asked for. */
const limits: number[] = []
const devboxApi = () => ({
  ...service.client,
  devboxes: {
    ...service.client.devboxes,
    list: counted((input: Parameters<typeof service.client.devboxes.list>[0]) => {
      limits.push(Number(input?.query?.limit))
      return service.client.devboxes.list(input)
    }),
  },
})
const axonApi = () => ({
  ...service.client,
  axons: { ...service.client.axons, list: counted(service.client.axons.list) },
})

/** A tab that has read so many pages of devboxes, and shows the twelve rows before the last of so many times twenty. */
const openDevboxes = async (pages: number): Promise<Tab> => {
  const client = new QueryClient()
  const api = devboxApi()
  const list = new InfiniteQueryObserver(client, {
    ...devboxQueries.list(query, api),
    enabled: ({ state }) => state.data === undefined,
  })
  const leave = list.subscribe(() => {})
  await expect.poll(() => list.getCurrentResult().isSuccess).toBe(true)
  for (let page = 1; page < pages; page++) await list.fetchNextPage()
  const rows = (): Devbox[] =>
    ((list.getCurrentResult().data?.pages ?? []) as DevboxList[]).flatMap(({ devboxes }) => devboxes)
  const refreshing = devboxQueries.refresh(
    query,
    () => ({ from: pages * 20 - 12, to: pages * 20, rows: rows().slice(pages * 20 - 12), loaded: rows().length }),
    api,
  )
  const leaveTabs = refreshing.join(client)
  const refresh = new QueryObserver(client, { staleTime: 5_000, ...refreshing.query })
  const leaveRefresh = refresh.subscribe(() => {})
  return opened({
    client,
    rows,
    readMs: () => refresh.getCurrentResult().dataUpdatedAt,
    close: () => {
      leave()
      leaveTabs()
      leaveRefresh()
    },
  })
}

const openAxons = async (): Promise<Tab> => {
  const client = new QueryClient()
  const api = axonApi()
  const filter = apiQueryOf({ include_total_count: true })
  const list = new InfiniteQueryObserver(client, {
    ...axonQueries.rows(filter, undefined, api),
    enabled: ({ state }) => state.data === undefined,
  })
  const leave = list.subscribe(() => {})
  await expect.poll(() => list.getCurrentResult().isSuccess).toBe(true)
  const rows = () => list.getCurrentResult().data?.pages.flatMap(({ axons }) => axons) ?? []
  const shown = () => ({ from: 0, to: 12, rows: rows().slice(0, 12), loaded: rows().length })
  const refreshing = axonQueries.refresh(filter, undefined, shown, api)
  const leaveTabs = refreshing.join(client)
  const refresh = new QueryObserver(client, { staleTime: 5_000, ...refreshing.query })
  const leaveRefresh = refresh.subscribe(() => {})
  return opened({
    client,
    rows,
    readMs: () => refresh.getCurrentResult().dataUpdatedAt,
    close: () => {
      leave()
      leaveTabs()
      leaveRefresh()
    },
  })
}

const opened = (tab: Tab): Tab => {
  tabs.push(tab)
  return tab
}

const isIdle = () => tabs.every(({ client }) => client.isFetching() === 0)

/**
 * So many intervals, second by second; answers how many calls each took. `isShared`: what one tab reads is all that the
 * others would.
 */
const idle = async (intervalMs: number, intervals: number, isShared = true): Promise<number[]> => {
  const took: number[] = []
  for (let interval = 0; interval < intervals; interval++) {
    calls = 0
    for (let ms = 0; ms < intervalMs; ms += 1_000) {
      const before = calls
      clock.advance(1_000)
      await expect.poll(isIdle).toBe(true)
      // What one of them has read has come to all of them.
      if (isShared && calls > before)
        await expect.poll(() => tabs.every(({ readMs }) => readMs() >= clock.nowMs)).toBe(true)
    }
    took.push(calls)
  }
  return took
}

it('makes one list call an interval in a visible tab, however far it was scrolled, and none in a hidden one', async () => {
  const tab = await openDevboxes(6)
  expect(tab.rows()).toHaveLength(20 + 5 * 100)
  expect(await idle(15_000, 4)).toEqual([1, 1, 1, 1])
  const [row] = tab.rows().slice(110)
  await service.client.devboxes.update({ params: { id: row?.id ?? '' }, body: { name: 'renamed' } })
  expect(await idle(15_000, 1)).toEqual([1])
  expect(tab.rows()[110]?.name).toBe('renamed')
  focusManager.setFocused(false)
  expect(await idle(15_000, 4)).toEqual([0, 0, 0, 0])
})

it('makes one list call an interval in ten tabs of devboxes together, opened one after the other', async () => {
  for (let number = 0; number < 10; number++) {
    await openDevboxes(2)
    clock.advance(1_300)
  }
  await expect.poll(isIdle).toBe(true)
  await idle(15_000, 1)
  expect(await idle(15_000, 4)).toEqual([1, 1, 1, 1])
})

it('makes one list call an interval in ten tabs that were scrolled differently, and none for those that closed', async () => {
  for (let number = 1; number <= 10; number++) {
    await openDevboxes(number)
    clock.advance(1_300)
  }
  await expect.poll(isIdle).toBe(true)
  // In the first the tabs tell what they show.
  await idle(15_000, 2, false)
  const [row] = tabs[9]?.rows().slice(195) ?? []
  await service.client.devboxes.update({ params: { id: row?.id ?? '' }, body: { name: 'deep' } })
  expect(await idle(15_000, 4)).toEqual([1, 1, 1, 1])
  expect(tabs[9]?.rows()[195]?.name).toBe('deep')
  for (const { close } of tabs.splice(1)) close()
  limits.length = 0
  expect(await idle(15_000, 4)).toEqual([1, 1, 1, 1])
  expect(limits.at(-1)).toBeLessThan(60)
})

it('makes one list call an interval in ten tabs of axons together, and all of them show what it told', async () => {
  for (let number = 0; number < 10; number++) {
    await openAxons()
    clock.advance(900)
  }
  await expect.poll(isIdle).toBe(true)
  await idle(10_000, 1)
  await service.client.axons.create({ body: { name: 'new' } })
  expect(await idle(10_000, 4)).toEqual([1, 1, 1, 1])
  for (const tab of tabs) expect(tab.rows()[0]?.name).toBe('new')
  focusManager.setFocused(false)
  expect(await idle(10_000, 2)).toEqual([0, 0])
})
