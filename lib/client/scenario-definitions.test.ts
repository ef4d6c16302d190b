import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createClient } from './client.ts'
import { readDefinitions } from './scenario-definitions.ts'

/** Reads definitions from a service that lists one scenario per page, `scn_1` first. */
const read = async (ids: string[], pages: number) => {
  let page = 0
  const service = createServer((_, response) => {
    page++
    const scenario = { id: `scn_${page}`, name: `name ${page}`, metadata: { repo: 'django' }, status: 'active' }
    const more = { input_context: { problem_statement: '' }, scoring_contract: { scoring_function_parameters: [] } }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ scenarios: [{ ...scenario, ...more }], has_more: page < pages }))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const api = createClient({ baseUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
  const found = await readDefinitions('bmj_1', ids, api)
  service.closeAllConnections()
  service.close()
  return { found, page }
}

it("reads names and metadata of a job's scenarios, skipping deleted ones", async () => {
  const { found, page } = await read(['scn_1', 'scn_2', 'scn_3', 'scn_gone'], 3)
  expect(found.scn_2).toEqual({ name: 'name 2', metadata: { repo: 'django' } })
  expect([Object.keys(found).length, page]).toEqual([3, 3])
})

it('searches only the newest pages if the service ignores the job filter', async () => {
  expect(await read(['scn_2', 'scn_9'], 50)).toMatchObject({ found: { scn_2: {} }, page: 2 })
})
