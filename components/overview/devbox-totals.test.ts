import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, createClient } from '#lib/client/client.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { ignoreFilters } from '#lib/service/testing/ignore-filters.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { devboxTotals } from './devbox-totals.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const read = (api: Pick<Client, 'devboxes'>, canPage = true) =>
  new QueryClient().fetchQuery({ ...devboxTotals(api, canPage), retry: false })

it('counts the devboxes of the whole account and leaves out those of trials', async () => {
  const { client } = service
  const running = await client.devboxes.createAndAwaitRunning({ body: { name: 'running' } })
  const suspended = await client.devboxes.createAndAwaitRunning({ body: { name: 'suspended' } })
  await client.devboxes.suspend({ params: { id: suspended.id } })
  await client.devboxes.waitForStatus({ params: { id: suspended.id }, body: { statuses: ['suspended'] } })
  const { id: scenario_id } = await client.scenarios.create({
    body: {
      name: 'counted',
      input_context: { problem_statement: 'Wait' },
      scoring_contract: {
        scoring_function_parameters: [{ name: 'true', scorer: { type: 'command_scorer', command: 'true' }, weight: 1 }],
      },
    },
  })
  for (let n = 0; n < 3; n++) await client.scenarioRuns.start({ body: { scenario_id } })
  const exact = {
    counts: { running: 1, suspended: 1, failed: 0, shutDown: 0, moving: 0 },
    trials: 3,
    countedNewest: null,
  }
  expect(await read(client)).toEqual({ ...exact, isPaged: false })

  const foreign = await ignoreFilters(service.url)
  const api = createClient({ baseUrl: foreign.url, headers: { authorization: `Bearer ${service.key}` } })
  expect(await read(api)).toEqual({ ...exact, isPaged: true })
  await expect(read(api, false)).rejects.toThrow('does not count')
  await foreign.close()
  await client.devboxes.shutdown({ params: { id: running.id } })
  expect((await read(client)).counts).toMatchObject({ running: 0, shutDown: 1 })
})

it('says how many devboxes it counted where there are more than it reads', async () => {
  const row = (number: number): Devbox => ({
    id: `dbx_${number}`,
    status: number === 9_999 ? 'running' : 'failure',
    create_time_ms: 0,
    end_time_ms: null,
    launch_parameters: {},
    metadata: {},
    capabilities: [],
    state_transitions: [],
  })
  // A service that filters by status alone, ends its list nowhere and counts nothing.
  const list: Client['devboxes']['list'] = async ({ query = {} } = {}) => {
    if (query.status) return { devboxes: query.status === 'running' ? [row(9_999)] : [], has_more: false }
    const first = query.starting_after ? Number(query.starting_after.slice(4)) + 1 : 0
    return { devboxes: Array.from({ length: Number(query.limit ?? 20) }, (_, i) => row(first + i)), has_more: true }
  }
  const api = { devboxes: { ...service.client.devboxes, list } }
  expect(await read(api)).toEqual({
    counts: { running: 1, suspended: 0, failed: 2_000, shutDown: 0, moving: 0 },
    trials: 0,
    countedNewest: 2_000,
    isPaged: true,
  })
})
