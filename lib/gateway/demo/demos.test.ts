import { afterEach, expect, it } from 'vitest'
import type { DemoView } from '#lib/protocol/demo.ts'
import { startService } from '#lib/service/testing/service.ts'
import { startConsole } from '../testing.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const start = async (isEmbedded: boolean) => {
  const service = await startService({ isolation: 'none' })
  closers.push(service.close)
  const gateway = await startConsole({ url: service.url, ...(isEmbedded && { ownKey: service.key }) })
  closers.push(gateway.close)
  const cookie = await gateway.signIn(service.key)
  const ask = (method: string) => gateway.ask(cookie, method, '/api/demo')
  const reach = async (state: DemoView['state']) => {
    await expect.poll(async () => (await ask('GET')).body.state, { timeout: 240_000 }).toBe(state)
    return (await ask('GET')).body as DemoView
  }
  return { client: service.client, ask, reach }
}

it('loads demo data into an empty account and removes only what it created', { timeout: 300_000 }, async () => {
  const { client, ask, reach } = await start(true)
  expect((await ask('GET')).body).toEqual({ state: 'none', items: [], problem: null })
  expect((await ask('POST')).body).toMatchObject({ state: 'loading' })
  expect((await ask('POST')).status).toBe(409)
  const own = await client.axons.create({ body: { name: 'own' } })
  const { items } = await reach('loaded')
  expect(items.every(({ id, is_ready }) => id !== null && is_ready)).toBe(true)
  const jobs = (await client.benchmarkJobs.list({ query: {} })).jobs.map(({ name, state }) => `${name} ${state}`)
  expect(jobs.sort()).toEqual([
    'demo-1-chores completed',
    'demo-1-chores-improved completed',
    'demo-1-invented-scores completed',
  ])
  expect((await ask('POST')).status).toBe(409)

  expect((await ask('DELETE')).body).toMatchObject({ state: 'removing' })
  await reach('none')
  expect((await client.benchmarkJobs.list({ query: {} })).jobs).toEqual([])
  expect((await client.devboxes.list({ query: {} })).devboxes).toEqual([])
  expect((await client.snapshots.list({ query: {} })).snapshots).toEqual([])
  const { axons } = await client.axons.list({ query: {} })
  expect(axons.filter(({ deleted_at_ms }) => deleted_at_ms == null).map(({ id }) => id)).toEqual([own.id])
  expect((await client.scenarios.list({ query: {} })).scenarios).toEqual([])
  await client.devboxes.create({ body: { name: 'own' } })
  expect((await ask('POST')).status).toBe(409)
})

it('offers no demo data with a service that the console does not run itself', async () => {
  const { ask } = await start(false)
  expect((await ask('GET')).body).toEqual({ state: 'unavailable', items: [], problem: null })
  expect((await ask('POST')).status).toBe(409)
})
