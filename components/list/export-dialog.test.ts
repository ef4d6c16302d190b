import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { axonQueries } from '#components/axons/queries.ts'
import type { Axon, AxonListQuery } from '#lib/contract/axons.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { readWholeList } from './export-dialog.tsx'

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

const reading = async (params: Params, signal = new AbortController().signal) => {
  const source = {
    queryOf: ({ deleted: _, ...query }: Params): AxonListQuery => query,
    list: ({ limit: _, ...query }: AxonListQuery) => axonQueries.rows(query, rowsPerCall, service.client),
    arrange: (rows: readonly Axon[], { deleted }: Params) =>
      deleted ? rows.filter(({ deleted_at_ms }) => deleted_at_ms != null) : rows,
  }
  const steps: string[] = []
  const rows = await readWholeList(
    source,
    { canSort: false, sortColumns: [] },
    params,
    new QueryClient(),
    signal,
    ({ count, total }) => steps.push(`${count} of ${total}`),
  )
  return { steps, names: rows.map(({ name }) => name) }
}

it('reads a list page by page and reports progress', async () => {
  expect(await reading(all)).toEqual({
    steps: ['20 of 45', '40 of 45', '45 of 45'],
    names: Array.from({ length: 45 }, (_, at) => `axon-${44 - at}`),
  })
})

it("applies the service's and the page's filters", async () => {
  const filtered = await reading({ ...all, deleted: true, metadata: [{ key: 'odd', op: 'eq', value: '1' }] })
  expect(filtered).toEqual({ steps: ['20 of 22', '22 of 22'], names: ['axon-43'] })
})

it('starts at the cursor of the address, with an unknown total', async () => {
  const { axons } = await service.client.axons.list({ query: { limit: 35 } })
  expect((await reading({ ...all, starting_after: axons.at(-1)?.id })).steps).toEqual(['10 of null'])
})

it('stops when canceled', async () => {
  await expect(reading(all, AbortSignal.abort(new Error('canceled')))).rejects.toThrow()
})
