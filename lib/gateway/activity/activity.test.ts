import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Activity, type ActivityList, maxStoredActivities } from '#lib/protocol/activity.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { ActivityStore } from './activity-store.ts'

let service: TestService
let gateway: TestConsole
let cookie: string
const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-activity-'))
beforeAll(async () => {
  service = await startService()
  gateway = await startConsole({ url: service.url }, { dataDir })
  cookie = await gateway.signIn(service.key)
})
afterAll(async () => {
  await gateway.close()
  await service.close()
  rmSync(dataDir, { recursive: true })
})

const post = (path: string, body: unknown) =>
  gateway.fetch(`/api/v1${path}`, {
    method: 'POST',
    cookie,
    headers: { 'content-type': 'application/json', 'user-agent': 'Chrome/1 (Linux)' },
    body: JSON.stringify(body),
  })
const list = async (query = '') =>
  (await (await gateway.fetch(`/api/activity${query}`, { cookie })).json()) as ActivityList
/** A creation is recorded once its response has been read. */
const until = (count: number, query = '') =>
  vi.waitFor(
    async () => {
      const found = await list(query)
      expect(found.activities).toHaveLength(count)
      return found.activities
    },
    { timeout: 120_000 },
  )

it('records creations, changes and deletions with their status, but no reads', async () => {
  const made = (await (await post('/axons', { name: 'noted' })).json()) as { id: string }
  await until(1)
  await post(`/axons/${made.id}`, { metadata: { a: 'b' } })
  await post('/axons/axn_unknown', { metadata: {} })
  await gateway.fetch('/api/v1/axons', { cookie })
  await post('/devboxes/dbx_unknown/read_file_contents', { file_path: 'x' })
  await post('/devboxes/dbx_unknown/execute_sync', { command: 'true' })
  const rows = await until(3)
  const browser = { browser: 'Chrome on Linux', address: '127.0.0.1' }
  expect(rows).toMatchObject([
    { operation: 'axons.update', subject: 'axn_unknown', status: 404, ...browser },
    { operation: 'axons.update', subject: made.id, status: 200, ...browser },
    { operation: 'axons.create', subject: made.id, status: 200, ...browser },
  ])
  expect((await list('?outcome=refused')).activities.map(({ id }) => id)).toEqual([rows[0]?.id])
  expect((await list('?search=AXONS.create')).total_count).toBe(1)
  const [, second] = (await list('?limit=2')).activities
  expect((await list(`?starting_after=${second?.id}`)).activities.map(({ id }) => id)).toEqual([rows[2]?.id])
  const csv = await (await gateway.fetch('/api/activity?format=csv&search=update', { cookie })).text()
  expect(csv.split('\r\n')).toHaveLength(4)
  const json = (await (await gateway.fetch('/api/activity?format=json', { cookie })).json()) as Activity[]
  expect(json).toEqual(rows)
})

it('records SQL that may change an axon, but no queries', async () => {
  const { id } = (await (await post('/axons', { name: 'queried' })).json()) as { id: string }
  const query = (sql: string) => post(`/axons/${id}/sql/query`, { sql })
  const batch = (...all: string[]) => post(`/axons/${id}/sql/batch`, { statements: all.map((sql) => ({ sql })) })
  await query('SELECT name FROM pragma_table_list')
  await query(' explain SELECT 1;')
  await batch('SELECT 1', 'VALUES (1)')
  await query('CREATE TABLE noted (a)')
  await query('SELECT 1; DROP TABLE noted')
  await query('WITH one AS (SELECT 1) INSERT INTO noted SELECT * FROM one')
  await batch('SELECT 1', 'DELETE FROM noted')
  await post(`/axons/${id}/sql/batch`, { statements: 'none' })
  const operations = async () =>
    (await list(`?search=${id}`)).activities.map(({ operation }) => operation).filter((each) => each !== 'axons.create')
  const expected = ['axons.batch', 'axons.batch', 'axons.query', 'axons.query', 'axons.query']
  await vi.waitFor(async () => expect(await operations()).toEqual(expected), { timeout: 120_000 })
})

it('requires a session, isolates accounts and rejects unknown parameters', async () => {
  expect((await gateway.fetch('/api/activity')).status).toBe(401)
  const other = await gateway.signIn(service.otherKey)
  expect(await (await gateway.fetch('/api/activity', { cookie: other })).json()).toMatchObject({ total_count: 0 })
  for (const query of ['?outcome=maybe', '?limit=0', '?starting_after=x', '?format=pdf'])
    expect((await gateway.fetch(`/api/activity${query}`, { cookie })).status).toBe(400)
})

it('does not fail a call when it cannot be stored', async () => {
  gateway.registry.slots.get('activityStore')?.close?.()
  const logged = vi.spyOn(console, 'error').mockReturnValue()
  expect((await post('/axons/axn_unknown', { metadata: {} })).status).toBe(404)
  await expect
    .poll(() => logged.mock.calls)
    .toEqual([[expect.stringContaining('Could not record axons.update'), expect.anything()]])
  logged.mockRestore()
  gateway.registry.slots.delete('activityStore')
})

it('prunes old entries per account', () => {
  const store = new ActivityStore(join(dataDir, 'pruned'))
  const write = {
    operation: 'axons.create',
    subject: null,
    status: 200,
    person: null,
    browser: 'Chrome',
    address: '::1',
  }
  store.put('few', { ...write, at_ms: 0 })
  for (let at_ms = 1; at_ms < maxStoredActivities + 200; at_ms++) store.put('many', { ...write, at_ms })
  expect(store.list('few', { limit: 1 }).total_count).toBe(1)
  const { total_count, activities } = store.list('many', { limit: 1 })
  expect(total_count).toBeGreaterThanOrEqual(maxStoredActivities)
  expect(total_count).toBeLessThan(maxStoredActivities + 100)
  expect(activities[0]?.at_ms).toBe(maxStoredActivities + 199)
  store.close()
})

it('continues under a new address of the service with DEVDECK_SERVICE_ID', async () => {
  const before = (await list()).activities
  expect(before.length).toBeGreaterThan(0)
  const url = service.url.replace('127.0.0.1', 'localhost')
  const moved = await startConsole({ url }, { dataDir, serviceId: service.url })
  try {
    // Cookies are named after the console's port.
    const sameCookie = cookie.replace(new URL(gateway.url).port, new URL(moved.url).port)
    expect((await moved.ask(sameCookie, 'GET', '/api/activity')).body.activities).toEqual(before)
  } finally {
    await moved.close()
  }
})
