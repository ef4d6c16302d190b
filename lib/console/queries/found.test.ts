import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { foundQuery } from './found.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const find = (text: string, api = service.client) => new QueryClient().fetchQuery(foundQuery(text, api))

it('finds things by a part of their name, each kind with its page', async () => {
  const { client } = service
  const devbox = await client.devboxes.createAndAwaitRunning({ body: { name: 'Checkout box' } })
  const axon = await client.axons.create({ body: { name: 'the checkout' } })
  await client.axons.create({ body: { name: 'another' } })
  const { things, unasked } = await find('checkout')
  expect(unasked).toEqual([])
  expect(things).toEqual([
    { kind: 'devbox', id: devbox.id, name: 'Checkout box', href: `/devboxes/${devbox.id}` },
    { kind: 'axon', id: axon.id, name: 'the checkout', href: `/axons/${axon.id}` },
  ])
})

it('opens what an id names, under the id where it has no name', async () => {
  const { client } = service
  const devbox = await client.devboxes.createAndAwaitRunning({ body: {} })
  expect((await find(devbox.id)).things).toEqual([
    { kind: 'devbox', id: devbox.id, name: devbox.id, href: `/devboxes/${devbox.id}` },
  ])
  const snapshot = await client.snapshots.create({ params: { id: devbox.id }, body: { name: 'kept' } })
  expect((await find(snapshot.id)).things).toEqual([
    { kind: 'snapshot', id: snapshot.id, name: 'kept', href: `/devboxes/${devbox.id}?tab=snapshots` },
  ])
})

it('finds nothing by an id that is nobody’s, and says what it could not ask for', async () => {
  expect(await find('dbx_nobody')).toEqual({ things: [], unasked: [] })
  expect(await find('bmj_nobody')).toEqual({ things: [], unasked: [] })
  const refused = createClient({ baseUrl: service.url, headers: { authorization: 'Bearer wrong' } })
  expect(await find('anything', refused)).toEqual({
    things: [],
    unasked: ['devbox', 'axon', 'benchmark job', 'benchmark run'],
  })
})
