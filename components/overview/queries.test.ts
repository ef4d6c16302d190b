import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, createClient } from '#lib/client/client.ts'
import { ignoreFilters } from '#lib/service/testing/ignore-filters.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { overviewQueries } from './queries.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const read = (api: Pick<Client, 'devboxes'>) => new QueryClient().fetchQuery(overviewQueries.totals(api))

it('counts the devboxes of the whole account without those of trials', async () => {
  const { client } = service
  await client.devboxes.createAndAwaitRunning({ body: { name: 'running' } })
  const suspended = await client.devboxes.createAndAwaitRunning({ body: { name: 'suspended' } })
  await client.devboxes.suspend({ params: { id: suspended.id } })
  await client.devboxes.waitForStatus({ params: { id: suspended.id }, body: { statuses: ['suspended'] } })
  const scorer = { type: 'command_scorer' as const, command: 'true' }
  const { id: scenario_id } = await client.scenarios.create({
    body: {
      name: 'counted',
      input_context: { problem_statement: 'Wait' },
      scoring_contract: { scoring_function_parameters: [{ name: 'true', scorer, weight: 1 }] },
    },
  })
  for (let n = 0; n < 3; n++) await client.scenarioRuns.start({ body: { scenario_id } })
  const exact = { counts: { running: 1, suspended: 1, failed: 0, shutDown: 0, moving: 0 }, trials: 3, isPartial: false }
  expect(await read(client)).toEqual(exact)

  const foreign = await ignoreFilters(service.url)
  const api = createClient({ baseUrl: foreign.url, headers: { authorization: `Bearer ${service.key}` } })
  expect(await read(api)).toEqual(exact)
  await foreign.close()
})

it('counts the newest devboxes of a service without totals, and says that there are more', async () => {
  const { devboxes } = await service.client.devboxes.list()
  const list: Client['devboxes']['list'] = async () => ({ devboxes, has_more: true })
  expect(await read({ devboxes: { ...service.client.devboxes, list } })).toEqual({
    counts: { running: 1, suspended: 1, failed: 0, shutDown: 0, moving: 0 },
    trials: 3,
    isPartial: true,
  })
})
