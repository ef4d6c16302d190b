import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { ignoreFilters } from '#lib/service/testing/ignore-filters.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { recordSearch } from './record-search.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const scoring = {
  scoring_function_parameters: [
    { name: 'true', scorer: { type: 'command_scorer' as const, command: 'true' }, weight: 1 },
  ],
}

const find = (text: string, api = service.client) =>
  new QueryClient().fetchQuery(recordSearch(text, api, async () => []))
it('finds records by part of their name', async () => {
  const { client } = service
  const devbox = await client.devboxes.createAndAwaitRunning({ body: { name: 'Checkout box' } })
  const axon = await client.axons.create({ body: { name: 'the checkout' } })
  await client.axons.create({ body: { name: 'another' } })
  expect((await find('checkout')).results).toEqual([
    { kind: 'devbox', id: devbox.id, name: 'Checkout box', href: `/devboxes/${devbox.id}` },
    { kind: 'axon', id: axon.id, name: 'the checkout', href: `/axons/${axon.id}` },
  ])
})

it('finds a record by its id, shown by id if unnamed', async () => {
  const { client } = service
  const devbox = await client.devboxes.createAndAwaitRunning({ body: {} })
  expect((await find(devbox.id)).results).toEqual([
    { kind: 'devbox', id: devbox.id, name: devbox.id, href: `/devboxes/${devbox.id}` },
  ])
  const snapshot = await client.snapshots.create({ params: { id: devbox.id }, body: { name: 'kept' } })
  expect((await find(snapshot.id)).results).toEqual([
    { kind: 'snapshot', id: snapshot.id, name: 'kept', href: `/snapshots?snapshot=${snapshot.id}` },
  ])
  expect((await find('KEP')).results).toEqual((await find(snapshot.id)).results)
  // As copied from a line of a log.
  expect((await find(`devbox "${devbox.id}" failed`)).results).toMatchObject([{ id: devbox.id }])
})

it('lists own devboxes before trial devboxes', async () => {
  const { client } = service
  const own = await client.devboxes.create({ body: { name: 'crowded own' } })
  const { id: scenario_id } = await client.scenarios.create({
    body: { name: 'crowd', input_context: { problem_statement: 'Wait' }, scoring_contract: scoring },
  })
  for (let n = 0; n < 6; n++) await client.scenarioRuns.start({ body: { scenario_id, run_name: `crowded trial ${n}` } })
  const { results } = await find('crowded')
  expect(results.map(({ name }) => name)).toEqual(['crowded own', ...[5, 4, 3, 2].map((n) => `crowded trial ${n}`)])
  // A service that ignores the search and the origin.
  const foreign = await ignoreFilters(service.url)
  const api = createClient({ baseUrl: foreign.url, headers: { authorization: `Bearer ${service.key}` } })
  const found = await find('crowded', api)
  expect(found.results[0]).toEqual({ kind: 'devbox', id: own.id, name: 'crowded own', href: `/devboxes/${own.id}` })
  expect(found.results.every(({ name }) => name.startsWith('crowded'))).toBe(true)
  await foreign.close()
})

it('lists exact names before the starts and parts of names, however new, and finds secrets', async () => {
  const { client } = service
  for (const name of ['build', 'rebuild', 'build one', 'the build']) await client.axons.create({ body: { name } })
  for (let n = 0; n < 6; n++) await client.axons.create({ body: { name: `prebuilder ${n}` } })
  await client.secrets.create({ body: { name: 'BUILD_KEY', value: 'hidden' } })
  const { results } = await find('build')
  expect(results.map(({ name }) => name)).toEqual([
    'build',
    'build one',
    'BUILD_KEY',
    'the build',
    'prebuilder 5',
    'prebuilder 4',
  ])
  expect(results[2]).toEqual({
    kind: 'secret',
    id: expect.any(String),
    name: 'BUILD_KEY',
    href: '/settings/secrets?search=BUILD_KEY',
  })
})

it('finds nothing for an unknown id, and reports kinds whose search failed', async () => {
  expect(await find('dbx_nobody')).toEqual({ results: [], failed: [], partial: [] })
  const refused = createClient({ baseUrl: service.url, headers: { authorization: 'Bearer wrong' } })
  expect(await find('anything', refused)).toEqual({
    results: [],
    failed: [
      'devbox',
      'axon',
      'benchmark job',
      'benchmark run',
      'benchmark',
      'scenario',
      'snapshot',
      'blueprint',
      'agent',
      'object',
      'network policy',
      'secret',
    ],
    partial: [],
  })
})
