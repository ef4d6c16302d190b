import { afterAll, beforeAll, expect, it } from 'vitest'
import { endpoints } from '#lib/contract/index.ts'
import { fieldProblems, shapeOf } from '#lib/contract/query-string.ts'
import { startService, type TestService } from '../testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ isolation: 'none' })
})
afterAll(() => service.close())

const fieldsOf = (query: NonNullable<(typeof endpoints)[number]['query']>): string[] => {
  const refused = query.safeParse({ sort: '?' })
  const [problem] = refused.success ? [] : fieldProblems(refused.error)
  return problem?.message.replace('must be one of ', '').split(', ') ?? []
}

it('200 for every sort field of every list, and 400 for another', async () => {
  const sortable = endpoints.filter(
    ({ query, path }) => query && 'sort' in shapeOf(query) && !path.endsWith('/list_public'),
  )
  expect(sortable.map(({ id }) => id).sort()).toEqual([
    'benchmarkJobs.list',
    'benchmarkRuns.list',
    'benchmarks.list',
    'blueprints.list',
    'devboxes.list',
    'scenarios.list',
    'snapshots.list',
  ])
  for (const { id, path, query } of sortable) {
    const fields = query ? fieldsOf(query) : []
    expect(fields, id).toContain('name')
    for (const field of fields)
      for (const order of ['asc', 'desc'])
        expect((await service.fetch(`${path}?sort=${field}&order=${order}`)).status, `${id} by ${field}`).toBe(200)
    expect((await service.fetch(`${path}?sort=metadata`)).status).toBe(400)
    expect((await service.fetch(`${path}?sort=name&order=up`)).status).toBe(400)
  }
})

it('200 in the requested order, continued after a row', async () => {
  const { devboxes } = service.client
  for (const name of ['sorted b', 'sorted C', 'sorted a']) await devboxes.create({ body: { name } })
  const list = (query: object) => devboxes.list({ query: { search: 'sorted', sort: 'name', ...query } })
  const { devboxes: all } = await list({})
  expect(all.map(({ name }) => name)).toEqual(['sorted a', 'sorted b', 'sorted C'])
  const rest = await list({ order: 'desc', limit: 1, starting_after: all[2]?.id })
  expect([rest.devboxes.map(({ name }) => name), rest.has_more, rest.total_count]).toEqual([['sorted b'], true, 3])
})
