import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { makeScenario, script } from '#lib/service/testing/scenarios.ts'
import { startService } from '#lib/service/testing/service.ts'
import { readDefinitions } from '../job/queries.ts'

it("reads names and metadata of a job's scenarios, skipping unlisted ones", async () => {
  const service = await startService()
  const make = (name: string, repo: string) => makeScenario(service, script('echo'), { name, metadata: { repo } })
  try {
    const [one, two] = [await make('one', 'django'), await make('two', 'flask')]
    await make('of another job', 'numpy')
    const agent = { name: 'solver', type: 'job_agent', kwargs: { command: 'true' } }
    const { id } = await service.client.benchmarkJobs.create({
      body: { spec: { type: 'scenarios', scenario_ids: [one, two], agent_configs: [agent] } },
    })
    const { signal } = new AbortController()
    expect(await readDefinitions(id, [one, two, 'scn_gone'], signal, service.client)).toEqual({
      [one]: { name: 'one', metadata: { repo: 'django' } },
      [two]: { name: 'two', metadata: { repo: 'flask' } },
    })
    await service.client.benchmarkJobs.cancel({ params: { id } })
  } finally {
    await service.close()
  }
})

it('searches only the newest pages if the service ignores the job filter', async () => {
  let pages = 0
  const service = createServer((_, response) => {
    const scenario = (id: string) => ({
      id,
      name: id,
      metadata: {},
      status: 'active',
      input_context: { problem_statement: '' },
      scoring_contract: { scoring_function_parameters: [] },
    })
    pages++
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ scenarios: [scenario(`scn_${pages}`)], has_more: true }))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const api = createClient({ baseUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
  const found = await readDefinitions('bmj_1', ['scn_2', 'scn_9'], new AbortController().signal, api)
  service.closeAllConnections()
  service.close()
  expect(Object.keys(found)).toEqual(['scn_2'])
  expect(pages).toBe(2)
})
