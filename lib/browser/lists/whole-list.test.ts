import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Axon, AxonList } from '#lib/contract/axons.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { type AxonView, apiQueryOf } from '../address/axon-view.ts'
import { axonQueries } from '../queries/axons.ts'
import { shownBy } from './axon-rows.ts'
import { wholeList } from './whole-list.ts'

const all: AxonView = { include_total_count: true }
/** Of the calls here, so that few rows are several pages. */
const rowsOfCall = 20
let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  for (let number = 0; number < 45; number++)
    await service.client.axons.create({ body: { name: `axon-${number}`, metadata: { odd: String(number % 2) } } })
  const { axons } = await service.client.axons.list({ query: { limit: 3 } })
  for (const { id } of axons) await service.client.axons.delete({ params: { id } })
})
afterAll(() => service.close())

/** A list that is read by calls of which one may fail; `calls` counts them. */
const reading = (view: AxonView, failing = 0) => {
  let calls = 0
  const list: typeof service.client.axons.list = (input) => {
    calls += 1
    return calls === failing ? Promise.reject(new TypeError('no network')) : service.client.axons.list(input)
  }
  const api = { ...service.client, axons: { ...service.client.axons, list } }
  const source = {
    pages: (each: AxonView) => axonQueries.rows(apiQueryOf(each), rowsOfCall, api),
    rowsOf: ({ axons }: AxonList) => axons,
    arrange: {
      by: [],
      rows: (rows: readonly Axon[], { state, created }: AxonView) => rows.filter(shownBy({ state, created })),
    },
  }
  const steps: string[] = []
  const whole = wholeList(source, view, new QueryClient())
  const read = (signal = new AbortController().signal) =>
    whole.read(signal, () => steps.push(`${whole.count()} of ${whole.total()}`))
  return { whole, read, steps, calls: () => calls }
}

it('reads a list to its end, page after page, and tells how far it is', async () => {
  const { whole, read, steps, calls } = reading(all)
  await read()
  expect(steps).toEqual(['20 of 45', '40 of 45', '45 of 45'])
  expect(calls()).toBe(3)
  expect(whole.rows().map(({ name }) => name)).toEqual(Array.from({ length: 45 }, (_, at) => `axon-${44 - at}`))
})

it('brings what the filters of the service and of the page leave', async () => {
  const filtered = reading({ ...all, state: 'deleted', metadata: [{ key: 'odd', op: 'eq', value: '1' }] })
  await filtered.read()
  expect(filtered.steps.at(-1)).toBe('22 of 22')
  expect(filtered.whole.rows().map(({ name }) => name)).toEqual(['axon-43'])
})

it('starts where its address starts, of which nobody knows how much there is', async () => {
  const { axons } = await service.client.axons.list({ query: { limit: 35 } })
  const later = reading({ ...all, starting_after: axons.at(-1)?.id })
  await later.read()
  expect(later.steps).toEqual(['10 of null'])
})

it('goes on after a failure from where it was, and has no row twice', async () => {
  const { whole, read, calls } = reading(all, 2)
  await expect(read()).rejects.toThrow('no network')
  expect([whole.count(), whole.total(), whole.rows().length]).toEqual([20, 45, 17 + 3])
  await read()
  expect(calls()).toBe(4)
  expect(new Set(whole.rows().map(({ id }) => id)).size).toBe(45)
})

it('ends when it is cancelled', async () => {
  const { whole, read } = reading(all)
  const controller = new AbortController()
  controller.abort(new Error('cancelled'))
  await expect(read(controller.signal)).rejects.toThrow()
  expect(whole.count()).toBe(0)
})
