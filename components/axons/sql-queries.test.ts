import { QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { axonTables, mayChangeTables, selectFrom } from './sql-queries.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

it('lists tables and views with their columns and rows, whatever their names are', async () => {
  const { client } = service
  const { id } = await client.axons.create({ body: {} })
  const run = (sql: string) => client.axons.query({ params: { id }, body: { sql } })
  const tables = () => new QueryClient().fetchQuery(axonTables(id, client))
  await client.axons.publish({
    params: { id },
    body: { event_type: 'a', origin: 'USER_EVENT', source: 's', payload: '{}' },
  })
  const events = { name: 'rl_axon_events', kind: 'table', rows: 1 }
  expect(await tables()).toMatchObject([events])

  await run('CREATE TABLE "or""der, 1" ("from" TEXT, twice INTEGER AS (1 + 1))')
  await run(`INSERT INTO "or""der, 1" VALUES ('x'), ('y')`)
  await run('CREATE VIEW latest AS SELECT "from" AS place FROM "or""der, 1"')
  await run('CREATE TABLE gone (a)')
  await run('CREATE VIEW broken AS SELECT * FROM gone')
  await run('DROP TABLE gone')
  await run('CREATE VIRTUAL TABLE found USING fts5(text)')
  const listed = await tables()
  expect(listed).toMatchObject([
    { name: 'broken', kind: 'view', problem: expect.stringContaining('gone') },
    { name: 'found', kind: 'table', columns: [{ name: 'text' }], rows: 0 },
    { name: 'latest', kind: 'view', columns: [{ name: 'place' }] },
    {
      name: 'or"der, 1',
      columns: [
        { name: 'from', type: 'TEXT' },
        { name: 'twice', type: 'INTEGER' },
      ],
      rows: 2,
    },
    events,
  ])
  for (const table of listed.filter(({ problem }) => !problem)) {
    const { columns } = await run(selectFrom(table))
    expect(columns.map(({ name }) => name)).toEqual(table.columns.map(({ name }) => name))
  }

  await client.axons.delete({ params: { id } })
  expect(await tables()).toHaveLength(5)
})

it('recognizes statements that may change the tables', () => {
  expect(['SELECT 1', ' explain select 1', 'VALUES (1)'].map(mayChangeTables)).toEqual([false, false, false])
  expect(
    ['create table a (b)', '-- why\nDROP TABLE a', 'WITH a AS (SELECT 1) DELETE FROM b'].every(mayChangeTables),
  ).toBe(true)
})
