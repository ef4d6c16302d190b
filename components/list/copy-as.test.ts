import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callInPython, pythonRefusal } from '#lib/browser/testing/python.ts'
import type { AxonListQuery } from '#lib/contract/axons.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { type CopiedList, listSamples } from './copy-as.ts'

const run = promisify(execFile)

interface Params extends Partial<AxonListQuery> {
  state?: string
  created?: string
  sort?: string
}

const views: Params[] = [
  { include_total_count: true, limit: 5, search: 'it\'s "$HOME" `id` \\' },
  {
    include_total_count: false,
    metadata: [
      { key: "k'ey", op: 'eq', value: '$(id)' },
      { key: 'list', op: 'in', values: ['a,b', 'c'] },
    ],
  },
]

const axonList = (params: Params): CopiedList<Params, object> => ({
  source: {
    noun: 'axon',
    filters: { search: 'ID or name contains …', state: 'is …', created: 'created … UTC' },
    queryOf: ({ state: _, created: __, sort: ___, ...query }) => query,
  },
  call: { path: '/v1/axons', method: 'axons.list' },
  params,
})

describe('a copied list', () => {
  let service: TestService
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    service = await startService({ isolation: 'none' })
    env = { ...process.env, DEVDECK_API_KEY: service.key }
    await service.client.axons.create({ body: { name: 'plain' } })
    await service.client.axons.create({ body: { name: 'it\'s "$HOME" `id` \\' } })
    await service.client.axons.create({ body: { name: 'tagged', metadata: { "k'ey": '$(id)', list: 'a,b' } } })
  })
  afterAll(() => service.close())
  const expected = async ({ state: _, created: __, sort: ___, ...query }: Params) =>
    (await service.client.axons.list({ query })).axons.map(({ id }) => id)

  it.each(views)('curl returns the same rows: %j', async (params) => {
    const { stdout } = await run(
      'bash',
      ['-c', `curl() { command curl -sS --max-time 10 "$@"; }; ${listSamples(axonList(params), service.url).curl}`],
      { env },
    )
    const { axons } = JSON.parse(stdout) as { axons: { id: string }[] }
    expect(axons.map(({ id }) => id)).toEqual(await expected(params))
    expect(axons.length).toBeGreaterThan(0)
  })

  it.each(views)('the public client returns the same rows: %j', async (params) => {
    const code = listSamples(axonList(params), service.url).TypeScript
    const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '--eval', code], { env })
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0])
    expect(ids).toEqual(await expected(params))
  })

  it.skipIf(pythonRefusal !== null).each(views)('Python asks for the same rows: %j', async (params) => {
    const { method, named } = callInPython(listSamples(axonList(params), service.url).Python)
    expect(method).toBe('axons.list')
    const { limit, extra_query = {} } = named as { limit?: number; extra_query?: Record<string, string> }
    const query = new URLSearchParams({ ...extra_query, ...(limit !== undefined && { limit: String(limit) }) })
    const response = await fetch(`${service.url}/v1/axons?${query}`, {
      headers: { authorization: `Bearer ${service.key}` },
    })
    const { axons } = (await response.json()) as { axons: { id: string }[] }
    expect(axons.map(({ id }) => id)).toEqual(await expected(params))
  })

  it("adds a one-line comment for filters the API doesn't have", () => {
    const params: Params = { include_total_count: true, state: 'deleted', sort: 'metadata.a%0Aecho%20x' }
    expect(listSamples(axonList(params), 'http://x').curl.split('\n')[0]).toMatch(/^# .*is deleted; sorted by/)
    expect(listSamples(axonList(params), 'http://x').curl.split('\n')[1]).toMatch(/^curl/)
    if (pythonRefusal === null) callInPython(listSamples(axonList(params), 'http://x').Python)
  })
})
