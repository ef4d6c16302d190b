import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { axonQueries } from '#components/axons/queries.ts'
import type { Axon, AxonListQuery } from '#lib/contract/axons.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { wholeList } from './whole-list.ts'

interface Params extends AxonListQuery {
  deleted?: boolean
}
const all: Params = { limit: 20, include_total_count: true }
/** Few, so that the list has several pages. */
const rowsPerCall = 20
let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  for (let number = 0; number < 45; number++)
    await service.client.axons.create({ body: { name: `axon-${number}`, metadata: { odd: String(number % 2) } } })
  const { axons } = await service.client.axons.list({ query: { limit: 3 } })
  for (const { id } of axons) await service.client.axons.delete({ params: { id } })
})
afterAll(() => service.close())

/** Call number `failing` fails. */
const reading = (params: Params, failing = 0) => {
  let calls = 0
  const list: typeof service.client.axons.list = (input) => {
    calls += 1
    return calls === failing ? Promise.reject(new TypeError('no network')) : service.client.axons.list(input)
  }
  const api = { ...service.client, axons: { ...service.client.axons, list } }
  const source = {
    queryOf: ({ deleted: _, ...query }: Params): AxonListQuery => query,
    list: ({ limit: _, ...query }: AxonListQuery) => axonQueries.rows(query, rowsPerCall, api),
    arrange: (rows: readonly Axon[], { deleted }: Params) =>
      deleted ? rows.filter(({ deleted_at_ms }) => deleted_at_ms != null) : rows,
  }
  const steps: string[] = []
  const whole = wholeList(source, params, new QueryClient())
  const read = (signal = new AbortController().signal) =>
    whole.read(signal, () => steps.push(`${whole.count()} of ${whole.total()}`))
  return { whole, read, steps, calls: () => calls }
}

it('reads a list page by page and reports progress', async () => {
  const { whole, read, steps, calls } = reading(all)
  await read()
  expect(steps).toEqual(['20 of 45', '40 of 45', '45 of 45'])
  expect(calls()).toBe(3)
  expect(whole.rows().map(({ name }) => name)).toEqual(Array.from({ length: 45 }, (_, at) => `axon-${44 - at}`))
})

it("applies the service's and the page's filters", async () => {
  const filtered = reading({ ...all, deleted: true, metadata: [{ key: 'odd', op: 'eq', value: '1' }] })
  await filtered.read()
  expect(filtered.steps.at(-1)).toBe('22 of 22')
  expect(filtered.whole.rows().map(({ name }) => name)).toEqual(['axon-43'])
})

it('starts at the cursor of the address, with an unknown total', async () => {
  const { axons } = await service.client.axons.list({ query: { limit: 35 } })
  const later = reading({ ...all, starting_after: axons.at(-1)?.id })
  await later.read()
  expect(later.steps).toEqual(['10 of null'])
})

it('continues after a failure without duplicates', async () => {
  const { whole, read, calls } = reading(all, 2)
  await expect(read()).rejects.toThrow('no network')
  expect([whole.count(), whole.total(), whole.rows().length]).toEqual([20, 45, 17 + 3])
  await read()
  expect(calls()).toBe(4)
  expect(new Set(whole.rows().map(({ id }) => id)).size).toBe(45)
})

it('stops when canceled', async () => {
  const { whole, read } = reading(all)
  const controller = new AbortController()
  controller.abort(new Error('cancelled'))
  await expect(read(controller.signal)).rejects.toThrow()
  expect(whole.count()).toBe(0)
})
