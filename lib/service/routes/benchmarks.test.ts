import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { command, makeScenario } from '#lib/service/testing/scenarios.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

let service: TestService
let a: string
let b: string
let c: string
beforeAll(async () => {
  service = await startService()
  a = await makeScenario(service, command('true'), { name: 'a' })
  b = await makeScenario(service, command('true'), { name: 'b' })
  c = await makeScenario(service, command('true'), { name: 'c' })
})
afterAll(() => service.close())

describe('POST /v1/benchmarks', () => {
  it('200 stores all fields, without duplicate scenarios', async () => {
    const body = {
      name: 'whole',
      attribution: 'us',
      description: 'what it measures',
      metadata: { env: 'prod' },
      required_environment_variables: ['A'],
      required_secret_names: ['S'],
    }
    const benchmark = await service.client.benchmarks.create({ body: { ...body, scenario_ids: [b, a, b] } })
    expect(benchmark).toMatchObject({ ...body, scenarioIds: [b, a], status: 'active', is_public: false })
    expect(benchmark.id).toMatch(/^bmd_/)
    expect(await service.client.benchmarks.get({ params: { id: benchmark.id } })).toEqual(benchmark)
  })

  it('400 naming every unknown scenario', async () => {
    const before = (await service.client.benchmarks.list({ query: {} })).total_count
    await expect(
      service.client.benchmarks.create({ body: { name: 'x', scenario_ids: ['scn_1', a, 'scn_2'] } }),
    ).rejects.toMatchObject({
      status: 400,
      field: 'scenario_ids',
      message: 'scenario_ids: scenario scn_1 does not exist; scenario_ids: scenario scn_2 does not exist',
    })
    expect((await service.client.benchmarks.list({ query: {} })).total_count).toBe(before)
  })

  it('400 with an empty name', async () => {
    const created = service.client.benchmarks.create({ body: { name: '  ' } })
    await expect(created).rejects.toMatchObject({ status: 400, field: 'name' })
  })
})

describe('POST /v1/benchmarks/{id}', () => {
  it('200 ignores null, clears empty values, replaces the rest', async () => {
    const { benchmarks } = service.client
    const { id } = await benchmarks.create({
      body: { name: 'before', metadata: { a: '1' }, description: 'd', scenario_ids: [a, b] },
    })
    const update = (body: object) => benchmarks.update({ params: { id }, body })
    const before = { name: 'before', metadata: { a: '1' }, description: 'd', scenarioIds: [a, b] }
    expect(await update({ name: null, metadata: null, scenario_ids: null, description: null })).toMatchObject(before)
    const cleared = { name: 'after', metadata: {}, description: '' }
    expect(await update({ ...cleared, scenario_ids: [] })).toMatchObject({ ...cleared, scenarioIds: [] })
    await expect(update({ scenario_ids: ['scn_none'] })).rejects.toMatchObject({ status: 400, field: 'scenario_ids' })
  })
})

describe('POST /v1/benchmarks/{id}/scenarios', () => {
  it('200 adds and removes', async () => {
    const { benchmarks } = service.client
    const { id } = await benchmarks.create({ body: { name: 'changing', scenario_ids: [a, b] } })
    const change = (body: object) => benchmarks.changeScenarios({ params: { id }, body })
    expect((await change({ scenarios_to_add: [c, a] })).scenarioIds).toEqual([a, b, c])
    expect((await change({ scenarios_to_remove: [a, 'scn_none'], scenarios_to_add: null })).scenarioIds).toEqual([b, c])
    await expect(change({ scenarios_to_add: ['scn_none'] })).rejects.toMatchObject({
      status: 400,
      field: 'scenarios_to_add',
    })
    const { scenarios, total_count } = await benchmarks.definitions({ params: { id }, query: { limit: 1 } })
    expect([scenarios.map(({ id }) => id), total_count]).toEqual([[c], 2])
    const rest = await benchmarks.definitions({ params: { id }, query: { starting_after: c } })
    expect(rest.scenarios.map(({ id }) => id)).toEqual([b])
  })

  it('200 keeps an archived scenario among the definitions', async () => {
    const { benchmarks, scenarios } = service.client
    const old = await makeScenario(service, command('true'))
    const { id } = await benchmarks.create({ body: { name: 'with old', scenario_ids: [old] } })
    await scenarios.archive({ params: { id: old } })
    const page = await benchmarks.definitions({ params: { id }, query: {} })
    expect(page.scenarios.map(({ id, status }) => [id, status])).toEqual([[old, 'archived']])
  })
})

describe('GET /v1/benchmarks', () => {
  it('200 by name, search and metadata, newest first, without archived ones', async () => {
    const { benchmarks } = service.client
    const made: string[] = []
    for (const [i, name] of ['list one', 'list two', 'list 100%'].entries())
      made.push((await benchmarks.create({ body: { name, metadata: { suite: i < 2 ? 'small' : 'big' } } })).id)
    const [one = '', two = '', percent = ''] = made
    const ids = async (query: object) => (await benchmarks.list({ query })).benchmarks.map(({ id }) => id)
    expect(await ids({ name: 'list' })).toEqual([percent, two, one])
    expect(await ids({ name: '0%' })).toEqual([percent])
    expect(await ids({ search: two })).toEqual([two])
    expect(await ids({ metadata: [{ key: 'suite', op: 'eq', value: 'small' }] })).toEqual([two, one])
    await benchmarks.archive({ params: { id: two } })
    expect(await ids({ name: 'list' })).toEqual([percent, one])
    expect((await benchmarks.get({ params: { id: two } })).status).toBe('archived')
    await benchmarks.unarchive({ params: { id: two } })
    expect(await ids({ name: 'list', limit: 1, starting_after: percent })).toEqual([two])
    expect(await benchmarks.listPublic({ query: {} })).toEqual({ benchmarks: [], has_more: false, total_count: 0 })
  })
})

describe('GET /v1/benchmarks/metadata/keys/{key}/values', () => {
  it('200 with the values to filter by', async () => {
    const { benchmarks } = service.client
    const made: string[] = []
    for (const tier of ['b', 'a', 'b'])
      made.push((await benchmarks.create({ body: { name: 't', metadata: { tier } } })).id)
    const values = async (key: string) => (await benchmarks.metadataValues({ params: { key } })).values
    expect(await values('tier')).toEqual(['a', 'b'])
    expect((await benchmarks.metadataKeys()).keys).toContain('tier')
    await benchmarks.archive({ params: { id: made[1] ?? '' } })
    expect(await values('tier')).toEqual(['b'])
    expect(await benchmarks.metadataValues({ params: { key: 'no such / key' } })).toEqual({
      key: 'no such / key',
      values: [],
    })
  })
})
